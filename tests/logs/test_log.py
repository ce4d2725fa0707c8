"""Logs of anybody's: every shape gives the same samples, and what is unclear is a sentence."""

import codecs
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

from setrl.evaluate.loading import load_samples
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.logs.options import VerdictWords
from setrl.logs.recognition import recognise
from setrl.logs.recording import log_records
from setrl.logs.rows import Rows
from setrl.rewards.answers import MathVerifier
from setrl.samples.values import read_score
from setrl.support.errors import ConfigError, DataError

DATA = Path(__file__).parents[1] / "data"
VERDICTS = {"a": [True, False, True], "b": [False, False], "c": [True, True, True]}
ROWS = [
    {"qid": name, "is_right": right, "pred": f"{name}{place}", "output": f"text {name} {place}",
     "cluster": place % 2, "model": "m"}
    for name, rights in VERDICTS.items()
    for place, right in enumerate(rights)
]  # fmt: skip


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write(path, rows):
    path.write_bytes(rows if isinstance(rows, bytes) else lines(rows))
    return path


def load(path, **named):
    how = {key: named.pop(key) for key in ("verify", "correct_above") if key in named}
    return load_samples(path, LogOptions(FieldNames(**named), **how))


def nested(key):
    return [
        {"id": name, key: [{"metrics": {"acc": float(right)}, "pred": f"{name}{place}",
                            "output": f"text {name} {place}", "cluster": place % 2}
                           for place, right in enumerate(rights)]}
        for name, rights in VERDICTS.items()
    ]  # fmt: skip


def as_lists():
    keys = {"correct": "is_right", "preds": "pred", "outputs": "output", "strategies": "cluster"}
    return [
        {"id": name, **{to: [r[one] for r in ROWS if r["qid"] == name] for to, one in keys.items()}}
        for name in VERDICTS
    ]


SHAPES = {
    "rows.jsonl": lines(ROWS),
    "reversed groups.jsonl": lines(sorted(ROWS, key=lambda row: row["output"][-1])),
    "bom.jsonl": codecs.BOM_UTF8 + lines(ROWS),
    "packed.jsonl.gz": gzip.compress(lines(ROWS), mtime=0),
    "array.json": json.dumps(ROWS, indent=1).encode(),
    "object.json": json.dumps({"meta": {"a": 1}, "results": ROWS}, indent=1).encode(),
    "words.jsonl": lines([{**r, "is_right": ["wrong", "Correct"][r["is_right"]]} for r in ROWS]),
    "numbers.jsonl": lines([{**r, "is_right": str(int(r["is_right"]))} for r in ROWS]),
    "samples.jsonl": lines(nested("samples")),
    "unknown list.jsonl": lines(nested("tries")),
    "lists.jsonl": lines(as_lists()),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_file_is_the_same_samples(tmp_path, name):
    loaded = load(write(tmp_path / name, SHAPES[name]))
    found = loaded
    assert loaded.is_log
    assert found.ids == found.prompts == ("a", "b", "c")
    assert found.size_P.tolist() == [3, 2, 3]
    assert found.correct_PN.tolist() == [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    assert found.samples.names["strategies"] == (0, 1)
    assert found.counted("strategies").tolist() == [[0, 1, 0], [0, 1, -1], [0, 1, 0]]
    assert found.samples.texts[1] == ("text b 0", "text b 1")
    assert len(np.unique(found.counted("answers"))) == 9  # 8 answers and what pads
    assert "settings: " in loaded.reading[0] or name in ("lists.jsonl", "samples.jsonl",
                                                       "unknown list.jsonl")  # fmt: skip


def test_parquet_is_read_too(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").Table
    for name, rows in (("rows", ROWS), ("lists", as_lists())):
        parquet.write_table(table.from_pylist(rows), tmp_path / f"{name}.parquet")
        found = load(tmp_path / f"{name}.parquet")
        assert found.correct_PN.tolist() == [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
        assert found.size_P.tolist() == [3, 2, 3]


def test_what_each_field_is_taken_for_is_shown(tmp_path):
    table = load(write(tmp_path / "log.jsonl", ROWS)).reading[0].splitlines()
    assert table == [
        f"{tmp_path / 'log.jsonl'}: one row per sample",
        "role      field     why                          example",
        "group     qid       its name; its values repeat  a",
        "correct   is_right  its name; true or false      true",
        "answer    pred      its name                     a0",
        "text      output    its name                     text a 0",
        "strategy  cluster   its name                     0",
        "settings: model",
    ]
    named = load(tmp_path / "log.jsonl", group=("qid",), correct="is_right", text="model")
    assert "group     qid       --group" in named.reading[0]
    assert "text      model     --text" in named.reading[0]


def test_counts_alone_are_enough(tmp_path):
    rows = [{"id": "p", "n": 4, "c": 3}, {"id": "q", "n": 2, "c": 0}]
    found = load(write(tmp_path / "counts.jsonl", rows))
    assert found.correct_count_P.tolist() == [3, 0]
    assert found.size_P.tolist() == [4, 2]
    outer = [{"id": side, "n": 4, "problems": rows} for side in ("in", "out")]
    both = load(write(tmp_path / "both.jsonl", outer))
    assert both.ids == ("in/p", "in/q", "out/p", "out/q")
    assert both.correct_count_P.tolist() == [3, 0, 3, 0]


def test_answers_and_labels_of_published_samples():
    """Codex on SVAMP: answers that equal the gold; Qwen on MATH: the published labels."""
    path = DATA / "generations_svamp_50x30.jsonl"
    loaded = load(path)
    assert loaded.n == 30
    credited = [sum(one.reward for one in group.samples) for group in open_log(path)]
    assert loaded.correct_count_P.tolist() == credited
    path = DATA / "generations_math_20x8.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    labels = [[bool(sample["correct"]) for sample in row["samples"]] for row in rows]
    assert load(path).correct_PN.tolist() == labels


def test_an_answer_is_the_model_s_where_it_differs_within_a_problem(tmp_path):
    rows = [{"id": p, "answer": str(i), "target": "1"} for p in "ab" for i in range(3)]
    found = load(write(tmp_path / "log.jsonl", rows))
    assert found.correct_PN.tolist() == [[0, 1, 0]] * 2
    same = [{"id": p, "answer": p, "pred": q} for p in "12" for q in "12"]
    assert load(write(tmp_path / "log.jsonl", same)).correct_PN.tolist() == [
        [1, 0],
        [0, 1],
    ]
    once = [{"id": p, "answer": p, "correct": 1} for p in "12"]
    notes = load(write(tmp_path / "log.jsonl", once)).reading
    assert any("--answer answer or --gold answer says which" in note for note in notes)


def test_words_without_a_meaning_are_refused_until_the_user_gives_them_one(tmp_path):
    words = ["correct", "wrong", "error", "AC", "Timeout"]
    rows = [{"id": i, "correct": word} for i in range(2) for word in words]
    path = write(tmp_path / "log.jsonl", rows)
    with pytest.raises(ConfigError, match=r"holds 'error'.*; --wrong error or --unknown"):
        load(path)
    with pytest.raises(DataError, match=r":3: correct .*; --wrong error or --unknown error says"):
        load(path, correct="correct")
    for name in (None, "correct"):
        fields = FieldNames(correct=name)
        said = VerdictWords(("ac",), ("timeout",), ("Error",))
        found = load_samples(path, LogOptions(fields, words=said))
        assert found.correct_PN.tolist() == [[True, False, True, False]] * 2
        assert found.ungraded_P.tolist() == [1, 1]
    with pytest.raises(ConfigError, match="'timeout' is in two of them"):
        load_samples(path, LogOptions(words=VerdictWords(wrong=("timeout",), unknown=("timeout",))))
    mostly = write(
        tmp_path / "b.jsonl", [{"id": 0, "correct": word} for word in ("AC", "WA", "no")]
    )
    with pytest.raises(ConfigError, match="--wrong AC or --unknown AC says what this means"):
        load(mostly)


def test_words_are_for_logs_whose_fields_are_recognised(tmp_path):
    path = write(tmp_path / "log.jsonl", [{"id": i % 2, "correct": 1} for i in range(4)])
    evaluation = write(tmp_path / "e.jsonl", list(log_records(open_log(path, needs=["correct"]))))
    with pytest.raises(ConfigError, match=r"of setrl's own.*leave out --right, --wrong"):
        open_log(evaluation, LogOptions(words=VerdictWords(wrong=("timeout",))))


@pytest.mark.parametrize("nothing", ["None", "nan", "N/A", "null", "NaN"])
def test_a_strategy_that_is_no_value_is_unknown(tmp_path, nothing):
    rows = [{"id": i, "correct": 1, "strategy": s} for i in range(2) for s in ("a", nothing)]
    group = open_log(write(tmp_path / "log.jsonl", rows))[0]
    assert group.column("strategy") == ["a", None]


def test_of_rows_with_one_number_the_last_counts_if_the_user_says_so(tmp_path):
    rows = [{"id": i, "attempt": s, "text": f"{i}{s}", "correct": s == 0}
            for i in range(2) for s in range(3)]  # fmt: skip
    retries = [{"id": i, "attempt": 2, "text": "again", "correct": True} for i in range(2)]
    unnumbered = [{"id": 0, "attempt": None, "text": t, "correct": False} for t in "xy"]
    path = write(tmp_path / "log.jsonl", [*rows, *retries, rows[0], *unnumbered])
    named = load(path, sample_number="attempt")
    assert named.size_P.tolist() == [5, 3]
    assert named.correct_count_P.tolist() == [2, 2]
    assert "note: left out: 2 rows whose attempt comes again in the problem" in str(named.reading)
    assert "note: left out: 1 row equal to an earlier one, also in the n" in str(named.reading)
    guessed = load(path)
    assert guessed.size_P.tolist() == [6, 4]
    assert "counted as further samples: 2 rows whose attempt comes again" in str(guessed.reading)


@pytest.mark.parametrize(
    ("rows", "note", "counts"),
    [
        ([*ROWS, ROWS[0]], "counted as further samples: 1 row equal to an earlier one", [3, 0, 3]),
        (
            [{**ROWS[place % 8], "sample_id": place % 8} for place in range(9)],
            "left out: 1 row equal to an earlier one, also in the number",
            [2, 0, 3],
        ),
        (
            [{**ROWS[place % 8], "draw": place % 8} for place in range(9)],
            "1 row equal to an earlier one; --sample-number draw leaves",
            [3, 0, 3],
        ),
        ([*ROWS, {**ROWS[0], "is_right": None}], "1 sample without a score", [2, 0, 3]),
        ([*ROWS, {**ROWS[0], "is_right": float("nan")}], "1 sample without a score", [2, 0, 3]),
        ([{**r, "qid": {"a": 7, "b": 8.0, "c": "9"}[r["qid"]]} for r in ROWS], "qid holds float "
         "and int and str", [2, 0, 3]),
        (ROWS[::3], "every problem has one sample", [1, 0, 1]),
        ([{"id": one, "answer": answer, "gold": "4"} for one in "ab" for answer in ("4", None)],
         "2 samples have no answer (null, or no field), which counts as a wrong one", [1, 1]),
    ],
)  # fmt: skip
def test_what_is_odd_is_counted(tmp_path, rows, note, counts):
    loaded = load(write(tmp_path / "log.jsonl", rows))
    assert loaded.correct_count_P.tolist() == counts
    assert any(note in line for line in loaded.reading), loaded.reading


def test_a_text_that_is_not_a_number_is_no_text(tmp_path):
    """Python's JSON writes NaN for what pandas has of a missing text."""
    rows = [{"id": "a", "output": text, "correct": 1} for text in ("x", None, float("nan"))]
    options = LogOptions(FieldNames(text="output"))
    [group] = open_log(write(tmp_path / "log.jsonl", rows), options, needs=["text"])
    assert [sample.text for sample in group.samples] == ["x", None, None]


@pytest.mark.parametrize(
    ("fields", "prompt", "wanted"),
    [
        ("question", "question", "question 0"),
        ("body", "body", "body 0"),
        ("question idx", "question", "question 0"),  # the number of a row is no id
        ("question problem", "question", "problem 0"),
        ("question task_id", "question", "task_id 0"),
        ("question instruction", "question", "question 0"),  # one instruction for all problems
    ],
)
def test_a_prompt_that_is_named_loses_no_ids(tmp_path, fields, prompt, wanted):
    rows = [
        {key: {"idx": place, "instruction": "Solve it."}.get(
            key, f"{key} {place // 2}") for key in fields.split()} | {"correct": place % 2}
        for place in range(4)
    ]  # fmt: skip
    log = open_log(write(tmp_path / "log.jsonl", rows), LogOptions(FieldNames(prompt=prompt)))
    assert (len(log), log[0].id) == (2, wanted)


def test_ids_of_equal_digits_are_one_problem(tmp_path):
    rows = [{"qid": one, "correct": True} for one in (7, 7.0, "7", "7.5", 7.5)]
    found = load(write(tmp_path / "log.jsonl", rows))
    assert (found.ids, found.size_P.tolist()) == (("7", "7.5"), [3, 2])


SCORED = [{"qid": q, "score": s} for q in "ab" for s in (0.2, 0.9)]


@pytest.mark.parametrize(
    ("rows", "named", "message"),
    [
        (b"", {}, "is empty"),
        (b"qid,correct\n1,True,3\n", {}, ":2: has 3 cells, but line 1 names 2"),
        (b"qid,qid\n1,True\n", {}, ":1: must name each column, with different names"),
        (b"plain text\n", {}, "is not JSON, and no table with commas; it begins with 'plain"),
        (b"\x89PNG,\0", {}, "is a binary file, not text: it begins with the bytes 89 50 4e 47 2c"),
        (b'{"qid": 1, "correct": 1}\n{"qid": 1, "corr\n', {},
         "log.jsonl:2: is not JSON: Unterminated string starting at position 12; --allow-damaged"),
        ('{"qid": "é"}\n'.encode("latin-1"), {}, "log.jsonl:1: is not text in UTF-8: byte 10 is "
         "0xe9; save the file as UTF-8"),
        (b"[1, 2]", {}, "row 1: must be an object, got int"),
        (b'[{"a": 1}', {}, "is not JSON"),
        (gzip.compress(lines(ROWS), mtime=0)[:60], {}, "gzip data are damaged or cut off"),
        (lines(ROWS)[:-20], {}, "log.jsonl:8: is not JSON"),
        (lines(ROWS).decode().encode("utf-16"), {}, "is text in UTF-16"),
        ([{"correct": True}], {}, "no field says which samples are of one problem"),
        ([{"ref": 1, "y": "2"}], {}, "--group; no field says whether a sample is correct: "
         "name it with --correct"),
        ([{"qid": "a", "x": 1}], {}, "no field says whether a sample is correct"),
        ([{"qid": "a", "correct": "maybe"}], {}, "correct seems to say whether a sample is "
         "correct, but it holds 'maybe'"),
        ([*ROWS, {"qid": "d"}], {}, "log.jsonl:9: has no 'is_right'; write null where"),
        ([{**row, "correct": not row["is_right"]} for row in ROWS], {},
         "correct and is_right may both say whether a sample is correct, and they differ"),
        (ROWS, {"correct": "right"}, "--correct: there is no field 'right'; the rows have qid"),
        (ROWS, {"group": ("q",)}, "--group: there is no field 'q'"),
        (ROWS, {"rows": "pred"}, "--rows: 'pred' must be a list of objects in every row"),
        (SCORED, {}, "score is graded (0.2 to 0.9): --correct-above 0.55 says that 0.9, the"),
        ([{"qid": None, "correct": 1}, {"qid": 1, "correct": 1}], {},
         "log.jsonl:1: the group must be text or a number, got null"),
        ([{"qid": "a", "correct": None}] * 2 + [{"qid": "a", "correct": float("nan")}],
         {"correct": "correct"}, "holds no sample that is scored"),
        ([{"task_id": "m", "prompt": p, "correct": 1} for p in "aabb"], {},
         "the samples of 'm' have different prompts ('a', 'b'): name the field"),
        ([{"id": 1, "correct": [1, 0], "pred": ["x"]}], {}, "lists of one problem must be equally"),
        ([{"id": 1, "correct": [1, 0]}, {"id": 2, "correct": 1}], {"correct": "correct"},
         "log.jsonl:2: the samples must be lists, as in the first rows"),
        ([{"id": 1, "c": 2, "n": 3}, {"id": 1, "c": 2, "n": 3, "x": 1}], {},
         "the counts of a problem come twice"),
        ([{"id": 1, "c": 5, "n": 3}], {"num_correct": "c", "num_samples": "n"},
         "c must be a whole number from 0 to n, got 5 of 3"),
        ([{"id": 1, "c": 5, "n": 10**12}], {"num_correct": "c", "num_samples": "n"},
         "n must be at most 1,000,000, got 1,000,000,000,000"),
        ([{"id": 1, "response": "t", "gold": "7"}] * 2, {},
         "--num-samples, or --verify, which grades the boxed answers of the texts; the rows"),
        ([{"id": 1, "a": [{"x": 1}], "b": [{"x": 1}]}], {},
         "several fields are lists of objects (a, b): name the one"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_sentence(tmp_path, rows, named, message):
    path = write(tmp_path / "log.jsonl", rows)
    with pytest.raises((ConfigError, DataError), match=re.escape(message)):
        load(path, **named)


def test_a_file_of_damaged_lines_says_so(tmp_path):
    path = write(tmp_path / "log.jsonl", '{"qid": "é"}\n'.encode("latin-1") * 3)
    with pytest.raises(DataError, match=r"no rows that can be read: 3 damaged lines .* UTF-8"):
        open_log(path, LogOptions(allow_damaged=True))


def test_rows_after_the_first_are_checked_as_they_are_read(tmp_path):
    rows = [{"qid": f"q{i % 9}", "correct": i % 2} for i in range(2500)]
    path = write(tmp_path / "log.jsonl", [*rows, {"qid": "q1", "correct": "maybe"}])
    with pytest.raises(
        DataError, match=r"log.jsonl:2501: correct must be a finite number, true or false"
    ):
        load(path)


@pytest.mark.parametrize("needs", [["correct"], ["reward"]])
@pytest.mark.parametrize("other", [{}, {"correct": 1}])
def test_an_odd_reward_among_rewards_is_named_with_its_line(tmp_path, needs, other):
    rows = [{"qid": "q", "reward": reward, **other} for reward in (1, 0.5, None, "later", 0)]
    path = write(tmp_path / "log.jsonl", rows)
    if other and needs == ["correct"]:  # what is not needed may be odd
        assert open_log(path, needs=needs)[0].samples[3].correct
        return
    message = r"log.jsonl:4: reward must be .*, got 'later'"
    with pytest.raises(DataError, match=message):
        open_log(path, needs=needs)


def test_graded_scores_are_kept_as_rewards(tmp_path):
    found = load(write(tmp_path / "log.jsonl", SCORED), correct_above=0.5)
    assert found.correct_PN.tolist() == [[0, 1]] * 2
    assert found.samples.rewards.tolist() == [[0.2, 0.9]] * 2


def test_a_gold_is_compared_as_mathematics_on_demand(tmp_path):
    pytest.importorskip("math_verify")
    rows = [{"id": "a", "pred": pred, "gold": "1/2"} for pred in ("0.5", "\\frac{1}{2}", "2")]
    path = write(tmp_path / "log.jsonl", rows)
    assert load(path).correct_PN.tolist() == [[0, 0, 0]]
    assert load(path, verify=MathVerifier()).correct_PN.tolist() == [[1, 1, 0]]


def test_a_verifier_needs_texts_and_golds_alone(tmp_path):
    pytest.importorskip("math_verify")
    texts = ("so \\boxed{0.5}", "\\boxed{2}")
    rows = [{"id": "a", "response": text, "gold": "1/2"} for text in texts]
    found = load(write(tmp_path / "log.jsonl", rows), verify=MathVerifier())
    assert found.correct_PN.tolist() == [[1, 0]]


def test_an_evaluation_file_takes_no_names_of_fields(tmp_path):
    record = {"schema_version": 1, "prompt": "p", "split": "t", "n": 1, "correct": [1],
              "strategies": [None], "answers": [None]}  # fmt: skip
    path = write(tmp_path / "e.jsonl", [record])
    assert not load(path).is_log
    with pytest.raises(
        ConfigError, match="is a file of setrl's own, whose fields are known: --group"
    ):
        load(path, group=("prompt",))


def test_numbered_samples_are_found_only_where_they_differ_within_a_problem():
    rows = [{"qid": q, "correct": 1, "seed": 0} for q in "aabb"]
    assert recognise(rows, FieldNames()).fields.sample_number is None
    rows = [{**row, "seed": place % 2} for place, row in enumerate(rows)]
    assert recognise(rows, FieldNames()).fields.sample_number == "seed"


def test_verdicts():
    assert [read_score(one) for one in ("FAIL", "passed", " no ", "1.0", "", None, False)] == [
        0, 1, 0, 1, None, None, 0]  # fmt: skip
    for wrong in ("maybe", float("inf"), "inf", {}, []):
        with pytest.raises(ValueError, match="true or false"):
            read_score(wrong)


def test_rows_are_not_all_held_in_memory(tmp_path):
    rows = Rows(write(tmp_path / "log.jsonl", lines(ROWS) + b"{broken\n")).scan()
    assert next(rows)[0] == ROWS
    with pytest.raises(DataError, match=r"log.jsonl:9: is not JSON"):
        list(rows)
