"""Files whose samples a judge labels: every shape of line, resuming, and what is refused."""

import json
from concurrent.futures import Future
from dataclasses import replace

import pytest

from setrl import methods
from setrl.cli.labelling import AHEAD, in_order, label_log
from setrl.judges import BackgroundJudge, Group, Judge, Judgement
from setrl.judges.exact import ExactJudge
from setrl.judges.oracle import OracleJudge
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.support.errors import ConfigError, DataError
from setrl.tasks.domains import by_name
from setrl.train.scoring.credit import credit_groups

OBJECTS = {"prompt": "p", "samples": [{"text": t, "reward": 1} for t in ("a", "b", "", "a")]}
LISTS = {"problem": "p", "completions": ["a", "b", "", "a"], "rewards": [1, 1, 1, 1]}
LINES = [{"prompt": "p", "text": t, "reward": 1} for t in ("a", "b", "", "a")]
SHAPES = {"objects": [OBJECTS], "lists": [LISTS], "lines": LINES}


class Failing(Judge):
    """Knows groups whose prompt it was given; what else it is asked is unknown."""

    name = "failing"

    def __init__(self, *known):
        self.known, self.asked = known, []

    def judge(self, groups):
        self.asked += [group.prompt for group in groups]
        exact = ExactJudge().judge(groups)
        return [
            judgement if group.prompt in self.known else Judgement(None, reason="timeout")
            for group, judgement in zip(groups, exact, strict=True)
        ]


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def label(tmp_path, records, judge=None, **options):
    path, output = write(tmp_path / "in.jsonl", records), tmp_path / "out.jsonl"
    log = open_log(path, needs=["text", "prompt"])
    counts = label_log(log, output, judge or ExactJudge(), show_progress=False, **options)
    return counts, read(output)


@pytest.mark.parametrize("shape", SHAPES)
def test_labels_stand_where_credit_looks_for_them(tmp_path, shape):
    counts, lines = label(tmp_path, SHAPES[shape])
    assert (counts.groups, counts.samples, counts.degenerate, counts.strategies) == (1, 4, 1, 2)
    (group,) = open_log(tmp_path / "out.jsonl")
    assert [one.strategy for one in group.samples] == [0, 1, -1, 0]
    assert all(line["judged"] == {"strategy": {"judge": "exact"}} for line in lines)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sample_without_a_text_is_unknown_and_of_no_strategy_only_if_it_wrote_nothing(
    tmp_path, shape
):
    records = json.loads(json.dumps(SHAPES[shape]).replace('"b"', "null"))
    counts, _ = label(tmp_path, records)
    assert (counts.without_text, counts.degenerate, counts.strategies) == (1, 1, 1)
    assert "1 of 4 samples degenerate, 1 without text (null)" in counts.summary()
    (group,) = open_log(tmp_path / "out.jsonl")
    assert [sample.strategy for sample in group.samples] == [0, None, -1, 0]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_group_that_is_unknown_is_unjudged_and_not_degenerate(tmp_path, shape):
    counts, lines = label(tmp_path, SHAPES[shape], Failing())
    assert counts.unknown == {"timeout": 1}
    assert counts.degenerate == 0
    assert lines[0]["judged"]["strategy"]["unknown"] == "timeout"
    (group,) = groups = list(open_log(tmp_path / "out.jsonl"))
    assert [one.strategy for one in group.samples] == [None] * 4
    known = write(tmp_path / "known.jsonl", [{"rewards": [1, 0, 1], "strategies": [0, 1, 2]}])
    advantages = credit_groups([*groups, *open_log(known)], methods.poly_epo(2))
    assert not advantages.usable_BN[0].any()


class TwoLevels(Judge):
    """Each text is a strategy, and all are one family."""

    name = "two levels"
    gives_families = True

    def judge(self, groups):
        exact = ExactJudge().judge(groups)
        families = [tuple(min(label, 0) for label in one.labels_N) for one in exact]
        return [
            replace(judgement, families_N=families_N)
            for judgement, families_N in zip(exact, families, strict=True)
        ]


@pytest.mark.parametrize("shape", SHAPES)
def test_families_stand_where_credit_looks_for_them(tmp_path, shape):
    label(tmp_path, SHAPES[shape], TwoLevels())
    (group,) = open_log(tmp_path / "out.jsonl")
    assert [one.strategy for one in group.samples] == [0, 1, -1, 0]
    assert [one.value("family") for one in group.samples] == [0, 0, -1, 0]
    with pytest.raises(DataError, match=r"has 'strategy|has 'family"):
        label(tmp_path, read(tmp_path / "out.jsonl"), TwoLevels())


def test_families_under_a_key_of_their_own_and_one_that_is_taken(tmp_path):
    _, lines = label(tmp_path, LINES, TwoLevels(), into="way")
    assert [line["way_family"] for line in lines] == [0, 0, -1, 0]
    with pytest.raises(DataError, match="has 'family' already"):
        label(tmp_path, [{**line, "family": 1} for line in LINES], TwoLevels())


@pytest.mark.parametrize("shape", SHAPES)
def test_everything_else_on_a_line_stays(tmp_path, shape):
    records = [{**record, "id": "x", "extra": {"k": None}} for record in SHAPES[shape]]
    _, lines = label(tmp_path, records)
    for record, line in zip(records, lines, strict=True):
        del line["judged"]
        for sample in (line, *line.get("samples", [])):
            for key in ("strategy", "strategies", "strategy_name", "strategy_names"):
                sample.pop(key, None)
        assert line == record


def test_an_evaluation_file_without_strategies_is_labelled_in_its_own_list(tmp_path):
    record = {"schema_version": 1, "prompt": "p", "split": "test", "n": 2, "temperature": 1.0,
              "correct": [1, 0], "strategies": [None] * 2, "answers": [None] * 2,
              "texts": ["a", "b"]}  # fmt: skip
    for _ in range(2):  # the second time it is found to be the same file
        _, (line,) = label(tmp_path, [record])
    assert line["strategies"] == [0, 1]
    assert [one.strategy for one in next(iter(open_log(tmp_path / "out.jsonl"))).samples] == [0, 1]
    (tmp_path / "out.jsonl").unlink()
    with pytest.raises(DataError, match="has 'strategy' already"):
        label(tmp_path, [record | {"strategies": ["a", None]}])


def test_names_of_strategies_are_kept(tmp_path):
    domain = by_name("quadratic")
    texts = ["factor (x-2)(x-3)=0 x=2,3", "no idea"]
    records = [{"prompt": "x^2-5x+6=0: ", "completions": texts}]
    _, (line,) = label(tmp_path, records, OracleJudge(domain))
    assert line["strategy_names"] == ["factoring", None]
    assert line["strategies"] == [0, -1]


def test_samples_of_a_group_may_be_anywhere_in_the_file(tmp_path):
    names = [("p", "a"), ("q", "a"), ("p", "b"), ("q", "a"), ("p", "a")]
    records = [{"prompt": prompt, "text": text, "n": n} for n, (prompt, text) in enumerate(names)]
    _, lines = label(tmp_path, records)
    assert [line["n"] for line in lines] == [0, 2, 4, 1, 3]
    assert [line["strategy"] for line in lines] == [0, 1, 0, 0, 0]


def test_a_second_call_asks_again_and_writes_the_whole_file(tmp_path):
    records = [{**OBJECTS, "prompt": name} for name in "abc"]
    _, before = label(tmp_path, records, Failing("a"))
    more = Failing("a", "b", "c")
    counts, lines = label(tmp_path, records, more)
    assert more.asked == ["a", "b", "c"]
    assert (counts.groups, counts.unknown.total()) == (3, 0)
    assert lines[0] == before[0]


def test_an_interruption_while_asking_again_loses_nothing(tmp_path):
    class Interrupted(Failing):
        def judge(self, groups):
            raise KeyboardInterrupt

    records = [{**OBJECTS, "prompt": name} for name in "abc"]
    _, before = label(tmp_path, records, Failing("a", "c"))
    with pytest.raises(KeyboardInterrupt):
        label(tmp_path, records, Interrupted())
    assert read(tmp_path / "out.jsonl") == before


class Background(BackgroundJudge):
    """Answers the first `slow` groups when all of them are asked about, the first one last."""

    name = "background"

    def __init__(self, slow):
        self.slow, self.futures = slow, []

    def judge(self, groups):
        return [self.submit(group).result() for group in groups]

    def submit(self, group):
        self.futures.append(WithoutWaiting())
        if len(self.futures) >= self.slow:
            for place, future in reversed(list(enumerate(self.futures))):
                if not future.done():
                    future.set_result(Judgement((place,)))
        return self.futures[-1]


class WithoutWaiting(Future):
    def result(self, timeout=None):
        return super().result(timeout=0)


def test_a_slow_group_holds_up_no_other():
    groups = [Group.of_texts(str(number), ("a",)) for number in range(AHEAD + 3)]
    found = list(in_order(Background(slow=AHEAD), groups))
    assert [group for group, _ in found] == groups
    assert [one.labels_N for _, one in found] == [(place,) for place in range(len(groups))]


def test_what_is_asked_in_the_background_is_cancelled_when_nobody_waits():
    judge = Background(slow=4)
    asking = in_order(judge, [Group.of_texts("p", ("a",))] * 3)
    with pytest.raises(TimeoutError):
        next(asking)
    assert len(judge.futures) == 3
    assert [future.cancelled() for future in judge.futures[1:]] == [True, True]


def test_an_output_of_something_else_is_left_alone(tmp_path):
    label(tmp_path, [OBJECTS])
    before = (tmp_path / "out.jsonl").read_text()
    others = [
        ([{**OBJECTS, "prompt": "q"}], {}),
        ([LISTS], {}),
        ([OBJECTS], {"judge": Failing("p")}),
        ([OBJECTS], {"into": "other"}),
        (LINES, {}),
    ]
    for records, options in others:
        with pytest.raises(ConfigError, match="exists already and is not this log as"):
            label(tmp_path, records, **options)
        assert (tmp_path / "out.jsonl").read_text() == before


def test_a_broken_output_and_one_of_another_judge_are_left_alone(tmp_path):
    label(tmp_path, [OBJECTS])
    whole = (tmp_path / "out.jsonl").read_text()
    for judge, before in ((ExactJudge(), "{not JSON}\n" + whole), (Failing("p"), whole)):
        (tmp_path / "out.jsonl").write_text(before)
        with pytest.raises(ConfigError, match=f"is not this log as {judge.name} labels it"):
            label(tmp_path, [OBJECTS], judge)
        assert (tmp_path / "out.jsonl").read_text() == before


def test_the_file_that_is_read_is_never_written(tmp_path):
    path = write(tmp_path / "in.jsonl", [OBJECTS])
    with pytest.raises(ConfigError, match="is the file that is read"):
        label_log(open_log(path), path, ExactJudge())


def test_labels_that_are_there_are_not_overwritten(tmp_path):
    _, (line,) = label(tmp_path, [OBJECTS])
    with pytest.raises(DataError, match="has 'strategy' already: name another key with --into"):
        label(tmp_path, [line])
    (tmp_path / "out.jsonl").unlink()
    _, (twice,) = label(tmp_path, [line], Failing("p"), into="second")
    assert [sample["second"] for sample in twice["samples"]] == [0, 1, -1, 0]
    assert twice["judged"] == {"strategy": {"judge": "exact"}, "second": {"judge": "failing"}}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"prompt": "p", "samples": [{"reward": 1}]}, "no field holds what the model wrote: name"),
        ({"samples": [{"text": "a"}]}, "no field holds what the model was given: .* --prompt"),
        ({"prompt": "p", "texts": [["a"]]}, "no field holds what the model wrote"),
        ({"prompt": "p", "texts": ["a"], "rewards": [1, 2]}, "in.jsonl:1: lists of one problem"),
    ],
)
def test_what_is_missing_is_named(tmp_path, record, message):
    with pytest.raises((ConfigError, DataError), match=message):
        label(tmp_path, [record])


def test_a_row_without_a_text_is_never_judged_as_an_empty_one(tmp_path):
    rows = [{"prompt": "p", "text": "a"}, {"prompt": "p", "reward": 1}]
    with pytest.raises(DataError, match=r"in.jsonl:2: has no 'text'"):
        label(tmp_path, rows)


def test_keys_can_be_named(tmp_path):
    path = write(tmp_path / "in.jsonl", [{"q": "p", "g": "one", "wrote": "a", "text": "no"}])
    fields = FieldNames(text="wrote", prompt="q", group=("g",))
    (group,) = open_log(path, LogOptions(fields), ["text", "prompt"])
    assert (group.id, group.prompt, group.texts) == ("one", "p", ("a",))
    inside = write(tmp_path / "in.jsonl", [{"prompt": "p", "samples": [{"wrote": "a"}]}])
    (group,) = open_log(inside, LogOptions(FieldNames(text="wrote")), ["text"])
    assert group.texts == ("a",)


def test_one_group_has_one_prompt(tmp_path):
    records = [{"group": "g", "prompt": prompt, "text": "a"} for prompt in "pq"]
    with pytest.raises(DataError, match=r"in.jsonl:2: the samples of 'g' have different prompts"):
        label(tmp_path, records)
