"""Logs of different things, lost and copied samples: what compare and evaluate say of them."""

import json
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from setrl.evaluate.cautions import are_equal, cautions_of_one, cautions_of_two
from setrl.evaluate.loading import load_samples
from setrl.evaluate.samples import Evaluation
from setrl.logs import open_log
from setrl.samples.samples import Samples
from tests.sessions import unwrapped

PROBLEMS, N = 12, 6


def rows(seed=0, **more):
    rng = random.Random(seed)
    return [
        {"id": f"p{i}", "prompt": f"{i} + {i}?", "gold": str(2 * i), "text": f"{seed} {i} {s}",
         "correct": rng.random() < 0.5, **more}
        for i in range(PROBLEMS) for s in range(N)
    ]  # fmt: skip


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def said(setrl, tmp_path):
    """Standard output of a quiet comparison of two logs."""

    def compare(first, second):
        a, b = write(tmp_path / "a.jsonl", first), write(tmp_path / "b.jsonl", second)
        code, out, _ = setrl("compare", a, b, "--metrics", "pass", "--quiet")
        assert code == 0
        return unwrapped(out)

    return compare


@pytest.mark.parametrize(
    ("first", "second", "setting"),
    [
        ({"temperature": 1.0}, {"temperature": 0.2}, "temperature (1 and 0.2)"),
        ({"max_tokens": 13}, {"max_tokens": 4000}, "max_tokens (13 and 4000)"),
        ({"top_p": 0.9}, {"topP": 1}, "top_p (0.9 and 1)"),
        ({"model": "m-1"}, {"model_name": "m-2"}, "model (m-1 and m-2)"),
        ({"config": {"revision": "main"}}, {"revision": "v2"}, "revision (main and v2)"),
        ({"system_prompt": "Be brief."}, {"system_prompt": "Think."},
         "system prompt (Be brief. and Think.)"),
        ({"task": "svamp", "split": "test"}, {"task": "svamp", "split": "train"},
         "split (test and train)"),
        ({"dataset": "gsm8k"}, {"dataset": "math"}, "dataset (gsm8k and math)"),
    ],
)  # fmt: skip
def test_settings_that_differ_are_said(said, first, second, setting):
    out = said(rows(1, **first), rows(2, **second))
    assert f"A and B differ in {setting}: this can be the reason why" in out
    assert "can be the reason" not in said(rows(1, **first), rows(2, **first))
    assert "can be the reason" not in said(rows(1, **first), rows(2))


def test_labels_that_every_problem_lacks_are_the_reason_for_a_metric_that_is_missing(
    setrl, tmp_path
):
    rows = [{"id": i, "correct": c, "strategy": s} for i in range(3)
            for c, s in ((1, "a"), (1, None), (0, "b"))]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = setrl("evaluate", path)
    why = "every problem has a sample without a label (3 of 9 samples have none); `setrl judge`"
    said = " ".join(out.split())  # the lines may be broken anywhere
    assert (code, f"no strategies@k and correct strategies@k: {why}" in said) == (0, True)
    for command in (["evaluate", path], ["compare", path, path]):
        code, _, err = setrl(*command, "--metrics", "strategies")
        said = " ".join(err.split())
        assert (code, f"cannot have the metric strategies: {why}" in said) == (2, True)
    code, out, _ = setrl("evaluate", path, "--degenerate", "null", "--metrics", "strategies")
    assert (code, "without a label" in out) == (0, False)


def test_system_messages_that_differ_are_said(said):
    def log(seed, system):
        return [{**row, "prompt": [{"role": "system", "content": system},
                                   {"role": "user", "content": row["prompt"]}]}
                for row in rows(seed)]  # fmt: skip

    wanted = "A and B differ in system prompt (Be brief. and Think.)"
    assert wanted in said(log(1, "Be brief."), log(2, "Think."))
    one_without = [*log(1, "Be brief.")[:-1], {**rows(1)[-1], "prompt": None}]
    assert wanted in said(one_without, log(2, "Think."))


def test_other_prompts_and_golds_are_said(said):
    other = [{**row, "prompt": row["prompt"].replace("+", "-")} for row in rows(2)]
    out = said(rows(1), other)
    assert "12 of 12 problems with one id in A and B have different prompts" in out
    assert "'p0' has '0 + 0?' in A and '0 - 0?' in B" in out
    other = [{**row, "gold": "7"} if row["id"] == "p3" else row for row in rows(2)]
    out = said(rows(1), other)
    assert "1 of 12 problems with one id in A and B have different right answers" in out
    assert "'p3' has '6' in A and '7' in B" in out
    bare = [{k: row[k] for k in ("id", "text", "correct")} for row in rows(2)]
    assert "different" not in said(rows(1), bare)


def test_problems_that_are_matched_by_their_prompts_are_said(said):
    out = said(rows(1), [{**row, "id": f"q{row['id']}"} for row in rows(2)])
    assert "share no id: problems are matched by their prompts" in out
    assert "matched by their prompts" not in said(rows(1), rows(2))


def test_copied_rows_are_said(said):
    out = said(rows(1), [*rows(1), *rows(1)[:9]])
    assert "B: 9 rows have an equal row before, in every field" in out
    assert "a comparison is unpaired" in out
    assert "missing" not in out  # copies make problems larger
    bare = [{"id": row["id"], "correct": row["correct"]} for row in rows(1)]
    assert "equal row before" not in said(bare, bare)  # without texts, equal rows are no copies
    lists = [{"id": f"p{i}", "rewards": [1, 0, 0, 1]} for i in range(6)]
    assert "A: 6 rows have an equal row before" in said(lists * 2, lists)  # whole problems are


def test_a_file_and_its_copy_are_equal(said, setrl, tmp_path):
    out = said(rows(1), rows(1))
    assert "A and B are equal: the same samples of the same problems" in out
    assert "power is unknown" not in out
    assert "not distinguishable" not in out
    mixed = random.Random(0).sample(rows(1), PROBLEMS * N)
    assert "A and B are equal" in said(rows(1), mixed)  # in another order
    assert "A and B are equal" in said(rows(1), rows(1)[: 4 * N])  # some of its problems
    no_text = [{"id": row["id"], "correct": row["correct"], "text": "x"} for row in rows(1)]
    assert "A and B have the same value on every problem, as copies have." in said(rows(1), no_text)
    said(rows(1), rows(1))
    found = setrl("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--json")[1]
    assert json.loads(found)["equal"] is True
    flipped = [{**row, "correct": not row["correct"]} if i == 3 else row
               for i, row in enumerate(rows(1))]  # fmt: skip
    assert "are equal" not in said(rows(1), flipped)


UNKNOWN = np.array([[1.0, np.nan, 0.0], [0.0, 1.0, 0.0]])
KNOWN = np.nan_to_num(UNKNOWN, nan=-1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"strategies": UNKNOWN}, {"strategies": KNOWN}),  # −1 is of no strategy
        ({"strategies": None}, {"strategies": np.full((2, 3), -1.0)}),
        ({"answers": UNKNOWN}, {"answers": KNOWN + 1}),
        ({"proxy": UNKNOWN}, {"proxy": KNOWN}),
        ({"rewards": UNKNOWN}, {"rewards": KNOWN}),
    ],
)
def test_what_is_unknown_of_one_side_only_is_no_copy(first, second):
    given = {"rewards": np.zeros((2, 3)), "correct": np.ones((2, 3)), "prompts": "pq"}
    names = dict.fromkeys(("strategies", "answers"), ("a", "b", "c"))
    a, b = (Evaluation(Samples(**{**given, **more}, names=names)) for more in (first, second))
    assert are_equal([a], [a])
    assert not are_equal([a], [b])


def test_a_sample_that_counts_as_wrong_is_no_wrong_sample():
    samples = Samples(np.zeros((2, 3)), correct=np.zeros((2, 3)), prompts="pq")
    wrong = Evaluation(samples)
    ungraded = replace(wrong, as_wrong_PN=np.eye(2, 3) > 0, ungraded_are="wrong",
                       ungraded_P=np.array([1, 1]))  # fmt: skip
    assert are_equal([ungraded], [ungraded])
    assert not are_equal([wrong], [ungraded])
    assert not are_equal([wrong], [replace(wrong, ungraded_P=np.array([1, 0]))])


def test_one_common_problem_allows_no_conclusion(said):
    out = said(rows(1)[:N], rows(2)[:N])
    assert "pass@k: one common problem allows no conclusion." in out
    assert "distinguishable" not in out
    assert "confidence" not in out


def test_missing_samples_have_bounds(said, tmp_path):
    """By hand: every missing sample wrong, every one right, and the two ends of B − A."""
    first, rng = rows(1), random.Random(3)
    kept = [row for row in first if row["correct"] or rng.random() < 0.5]
    a, b = write(tmp_path / "x.jsonl", first), write(tmp_path / "y.jsonl", kept)
    ends = []
    for wrong_ones in (0, 1):
        share = Fraction(0)
        for i in range(PROBLEMS):
            graded = [row["correct"] for row in kept if row["id"] == f"p{i}"]
            share += Fraction(sum(graded) + wrong_ones * (N - len(graded)), N * PROBLEMS)
        ends.append(100 * float(share))
    of_a = 100 * sum(row["correct"] for row in first) / len(first)
    evaluations = [[load_samples(path)] for path in (a, b)]
    [alone] = cautions_of_one(evaluations[1])
    assert f"{len(first) - len(kept)} samples are missing: pass@1 would be {ends[0]:.1f}%" in alone
    assert f"{ends[1]:.1f}% if all were right" in alone
    assert cautions_of_one(evaluations[0]) == []
    both = cautions_of_two(*evaluations)
    assert both[0] == f"B: {alone}"
    assert f"is between 0.0 and +{ends[1] - of_a:.1f} points" in both[-1]
    assert "holds only if samples are missing whether they were right or wrong" in both[-1]
    assert alone in said(first, kept)


def test_an_order_that_no_missing_sample_can_change_is_said(said):
    log = [{"id": f"p{i}", "text": f"{i} {s}"} for i in range(4) for s in range(4)]
    wrong = [{**row, "correct": False} for row in log[:-1]]
    out = said(wrong, [{**row, "correct": True} for row in log])
    assert (
        "B − A of pass@1 is between +93.8 and +100.0 points, so that they do not decide which"
        in out
    )


def test_other_numbers_of_samples_are_said(said):
    half = [row for i, row in enumerate(rows(2)) if i % N < 3]
    assert "A and B have different numbers of samples (6 and 3)" in said(rows(1), half)


def evaluated(setrl, path, *options):
    code, out, err = setrl("evaluate", path, "--metrics", "pass", "--k", 1, "--quiet", *options)
    return code, out + err


def test_several_temperatures_in_one_file_are_said(setrl, tmp_path):
    two = [{**row, "temperature": 0.2 + 0.8 * (row["id"] > "p5")} for row in rows()]
    out = evaluated(setrl, write(tmp_path / "log.jsonl", two))[1]
    assert "these are samples of several settings" in out
    assert "temperature is 0.2 in 48, 1 in 24 rows" in out
    assert ", temperature" not in out


def test_a_key_that_comes_twice_is_refused(setrl, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"id": 1, "reward": 1}\n{"id": 1, "reward": 0, "reward" : 1}\n')
    code, said = evaluated(setrl, path)
    assert code == 3
    assert "log.jsonl:2: has the key 'reward' twice" in said
    path.write_text('[{"id": 1, "reward": 1}, {"id": 1, "reward": 0, "reward": 1}]')
    assert "has the key 'reward' twice" in evaluated(setrl, path)[1]
    path.write_text('{"id": 1, "reward": 1, "text": "{\\"id\\": 1, \\"id\\": 2}", "x": {"id": 1}}\n'
                    '{"id": 2, "reward": 0, "text": "", "x": {"id": 1}}\n')  # fmt: skip
    assert evaluated(setrl, path)[0] == 0


def test_rewards_that_contradict_are_refused_or_said(setrl, tmp_path):
    def log(wrong):
        return write(tmp_path / "log.jsonl", [
            {"id": row["id"], "correct": row["correct"],
             "reward": int(row["correct"] ^ (i < wrong))}
            for i, row in enumerate(rows())])  # fmt: skip

    code, said = evaluated(setrl, log(PROBLEMS * N))
    assert code == 2
    assert "correct and reward say the opposite of each other in every sample" in said
    assert evaluated(setrl, log(PROBLEMS * N), "--correct", "reward")[0] == 0
    note = "correct and reward contradict each other in 5 of 72 samples: correct says what is"
    assert note in evaluated(setrl, log(5))[1]  # also with --quiet


def test_ids_that_look_alike_are_said(setrl, tmp_path):
    ids = ("caf\u00e9", "cafe\u0301", "x", "x ")
    log = [{"id": one, "correct": s % 2} for one in ids for s in range(4)]
    said = evaluated(setrl, write(tmp_path / "log.jsonl", log))[1]
    assert "2 ids are equal to another one but for space at an end or a form of Unicode" in said


@pytest.mark.parametrize("kept", [0, 1])
def test_ids_that_look_alike_in_two_files_are_said(setrl, tmp_path, kept):
    """No common problem: an error; some: a note, beside the note that problems are left out."""
    other = [{**row, "id": row["id"] + " " * (int(row["id"][1:]) >= kept), "prompt": None}
             for row in rows(2)]  # fmt: skip
    a, b = write(tmp_path / "a.jsonl", rows(1)), write(tmp_path / "b.jsonl", other)
    code, out, err = setrl("compare", a, b, "--quiet")
    assert code == (0 if kept else 3)
    assert "ids are equal to another one but for space at an end or a form of Unicode" in out + err


def test_more_texts_than_verdicts_are_refused(setrl, tmp_path):
    record = {"schema_version": 1, "id": "p", "prompt": "p", "split": "test", "n": 2,
              "correct": [1, 0], "strategies": [None] * 2, "answers": [None] * 2}  # fmt: skip
    code, said = evaluated(setrl, write(tmp_path / "t.jsonl", [{**record, "texts": ["t"] * 3}]))
    assert code == 3
    assert "'texts' must have at most n = 2 entries, got 3" in said


@pytest.mark.parametrize(
    ("one", "other"), [("exact_match", "llm_judge"), ("acc", "score"), ("correct", "acc")]
)
def test_two_verdicts_that_differ_are_refused_by_one_rule(setrl, tmp_path, one, other):
    log = [
        {"id": row["id"], one: int(row["correct"]), other: i % 2} for i, row in enumerate(rows())
    ]
    code, said = evaluated(setrl, write(tmp_path / "log.jsonl", log))
    assert code == 2
    assert f"{one} and {other} may both say whether a sample is correct, and they differ" in said
    assert evaluated(setrl, tmp_path / "log.jsonl", "--correct", other)[0] == 0


@pytest.mark.parametrize(("low", "high", "above"), [(-1, 1, "0"), (0, 100, "50")])
def test_two_values_get_the_exact_option(setrl, tmp_path, low, high, above):
    log = [{"id": row["id"], "reward": high if row["correct"] else low} for row in rows()]
    code, said = evaluated(setrl, write(tmp_path / "log.jsonl", log))
    assert code == 2
    assert f"--correct-above {above} says that {high}, the larger of its two values" in said
    assert evaluated(setrl, tmp_path / "log.jsonl", "--correct-above", above)[0] == 0


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_table_is_the_same_as_lines_of_json(setrl, tmp_path, separator):
    lines = [["id", "prompt", "text", "correct"], *(
        [row["id"], f'"{row["prompt"]}"', '"two\nlines; ""x"", y"', str(row["correct"])]
        for row in rows())]  # fmt: skip
    (tmp_path / "log.csv").write_text("".join(separator.join(line) + "\n" for line in lines))
    found = load_samples(tmp_path / "log.csv")
    same = load_samples(write(tmp_path / "log.jsonl", rows()))
    assert (found.ids, found.prompts) == (same.ids, same.prompts)
    assert found.correct_PN.tolist() == same.correct_PN.tolist()
    assert found.samples.texts[0][0] == 'two\nlines; "x", y'


def test_a_cell_of_a_table_means_the_same_beside_any_others(tmp_path):
    labels = ["1e3", "1000", "2", "2", "+1", "1.5", "007", "nan"]
    lines = [f"p,{i},{i % 2},{label}\n" for i, label in enumerate(labels)]
    (tmp_path / "log.csv").write_text("".join(["id,text,correct,strategy\n", *lines]))
    [group] = open_log(tmp_path / "log.csv")
    want = ["1e3", 1000, 2, 2, "+1", "1.5", "007", None]
    assert [one.strategy for one in group.samples] == want


def test_a_table_may_have_counts_steps_and_numbers_of_samples(tmp_path):
    (tmp_path / "counts.csv").write_text("id,c,n,step\np,1,2,3\nq,0,2,4\n")
    groups = [*open_log(tmp_path / "counts.csv")]
    assert [(one.step, [s.correct for s in one.samples]) for one in groups] == [
        (3, [True, False]), (4, [False, False]),
    ]  # fmt: skip
    (tmp_path / "twice.csv").write_text("id,sample,correct\np,0,1\np,1,0\np,1,0\n")
    [group] = open_log(tmp_path / "twice.csv")
    assert [one.correct for one in group.samples] == [True, False]
