"""Files of problems: every format, splits only by text, and a sentence for each thing wrong."""

import csv
import gzip
import io
import json
import pickle

import datasets
import pytest

from setrl import tasks
from setrl.samples.conversation import Conversation
from setrl.support.errors import ConfigError, DataError
from setrl.tasks import PromptForm
from setrl.tasks.base import TRAIN
from setrl.tasks.splits import divide_by_sizes, place_of
from setrl.tasks.tables import fill_template
from setrl.train.lm.trl_arguments import training_prompts

ROWS = [
    {"problem": f"What is {i} + {i}?", "answer": 2 * i, "level": i % 3, "tags": [str(i)]}
    for i in range(40)
]
TEST = {row["problem"] for row in ROWS if place_of(row["problem"]) < 0.1}


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


WRITERS = {
    "own.jsonl": lambda path: path.write_bytes(lines(ROWS)),
    "bom.jsonl": lambda path: path.write_bytes(b"\xef\xbb\xbf" + lines(ROWS)),
    "own.jsonl.gz": lambda path: path.write_bytes(gzip.compress(lines(ROWS))),
    "own.json": lambda path: path.write_text(json.dumps(ROWS, indent=1)),
    "own.parquet": lambda path: datasets.Dataset.from_list(ROWS).to_parquet(path),
    "saved": lambda path: datasets.Dataset.from_list(ROWS).save_to_disk(path),
    "folder": lambda path: (path.mkdir(), (path / "data.jsonl").write_bytes(lines(ROWS))),
}


def file_task(folder, rows=ROWS, **keys):
    (folder / "own.jsonl").write_bytes(lines(rows))
    return tasks.from_config(task={"data": "own.jsonl", "folder": str(folder), **keys})


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_holds_the_same_problems(tmp_path, name, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    WRITERS[name](tmp_path / name)
    found = tasks.from_config(task={"data": name, "folder": str(tmp_path)})
    of_split = {split: found.problems(split, None, 0).problems for split in found.splits}
    assert {one.prompt for one in of_split["test"]} == TEST
    everything = [one for problems in of_split.values() for one in problems]
    assert {(one.prompt, one.gold) for one in everything} == {
        (row["problem"], str(row["answer"])) for row in ROWS
    }
    [third] = [one for one in everything if one.prompt == ROWS[3]["problem"]]
    assert third.columns["tags"] == ["3"]


def test_samples_are_read_by_the_reward_and_the_strategy(tmp_path):
    found = file_task(tmp_path, strategy="final_answer").problems("test", 1, 0)
    [problem] = found.problems
    texts = [rf"\boxed{{{problem.gold}.0}}", r"\boxed{-1}", "no idea"]
    readings = found.read(problem, texts)
    assert [one.correct for one in readings] == [True, False, False]
    assert [one.strategy for one in readings] == [int(problem.gold), "answer -1", -1]


def test_training_goes_through_all_problems_in_a_new_order(tmp_path):
    task = file_task(tmp_path)
    rows = [row.prompt for row in task.training_problems(80, None, seed=0)]
    size = len(ROWS) - len(TEST)
    first, second = rows[:size], rows[size : 2 * size]
    assert set(first) == set(second) == {row["problem"] for row in ROWS} - TEST
    assert first != second
    assert rows != [row.prompt for row in task.training_problems(80, None, seed=1)]
    few = {row.prompt for row in task.training_problems(80, 5, seed=0)}
    assert len(few) == 5
    assert few == {row.prompt for row in task.training_problems(80, 5, seed=1)}
    with pytest.raises(ConfigError, match=f"train_problems must be at most {size}"):
        task.training_problems(80, size + 1, seed=0)


def test_splits_go_by_the_text_and_not_by_the_order():
    prompts = [str(i) for i in range(500)] + ["7", "7"]
    found = divide_by_sizes(prompts, {"test": 0.2, "dev": 0.1})
    by_text = {split: {prompts[i] for i in places} for split, places in found.items()}
    assert sum(map(len, by_text.values())) == 500
    for split, low, high in (("test", 0, 0.2), ("dev", 0.2, 0.3), (TRAIN, 0.3, 1)):
        assert by_text[split] == {p for p in prompts if low <= place_of(p) < high}
    reverse = divide_by_sizes(prompts[::-1], {"test": 0.2, "dev": 0.1})
    assert {prompts[::-1][i] for i in reverse["test"]} == by_text["test"]
    counted = divide_by_sizes(prompts, {"test": 20, "train": 30})
    assert [len({prompts[i] for i in counted[s]}) for s in ("test", "train")] == [20, 30]
    assert not {prompts[i] for i in counted["test"]} & {prompts[i] for i in counted["train"]}
    with pytest.raises(ConfigError, match="need 501 different problems, but there are 500"):
        divide_by_sizes(prompts, {"test": 501})
    with pytest.raises(ConfigError, match="add up to 1 at most"):
        divide_by_sizes(prompts, {"test": 0.6, "train": 0.6})
    with pytest.raises(ConfigError, match="all be shares or all be numbers"):
        divide_by_sizes(prompts, {"test": 0.6, "train": 6})


def test_a_share_has_a_problem_at_least():
    """46 different prompts of which none has a place below .1 had an empty test split."""
    prompts = [name for i in range(400) if place_of(name := f"problem {i}") > 0.3][:46]
    found = divide_by_sizes(prompts, {"test": 0.1, "dev": 0.05})
    first, second, *_ = sorted(prompts, key=place_of)
    assert [[prompts[i] for i in found[split]] for split in ("test", "dev")] == [[first], [second]]
    assert len(found["train"]) == 44
    assert {
        split: len(rows) for split, rows in divide_by_sizes(["one"], {"test": 0.1}).items()
    } == {
        "train": 1,
        "test": 0,
    }
    whole = divide_by_sizes(prompts, {"test": 0.1, "train": 0.9})
    assert [len(whole[split]) for split in ("test", "train")] == [1, 45]


def test_templates_and_paths_of_fields(tmp_path):
    rows = [{"q": {"en": f"{i}?"}, "solution": {"value": [f"${i}$"]}} for i in range(20)]
    task = file_task(
        tmp_path, rows, prompt=r"{q.en} Put it in \boxed{}.", gold="solution.value", reward="exact"
    )
    problem = task.problems("train", None, 0).problems[0]
    assert problem.prompt == rf"{problem.gold}? Put it in \boxed{{}}."
    assert problem.columns["solution.value"] == problem.gold
    assert fill_template(r"{{a}} {a} \frac{1}{2} {{}}", {"a": 3}, "") == r"{a} 3 \frac{1}{2} {}"


def test_what_is_noted(tmp_path):
    (tmp_path / "test.jsonl").write_bytes(lines([ROWS[3], ROWS[4], {**ROWS[5], "problem": "x"}]))
    rows = [*ROWS, {"problem": "y", "answer": None}, {"problem": "z", "answer": "\\frac{}{2}"}]
    (tmp_path / "train.jsonl").write_bytes(lines(rows))
    files = {"train": "train.jsonl", "test": "test.jsonl"}
    task = tasks.from_config(task={"splits": files, "folder": str(tmp_path)})
    bad, overlap = task.notes(["train", "test"])
    assert "2 of 42 problems of train are left out" in bad
    assert "train.jsonl:41 (no answer), " in bad
    assert "2 of 3 problems of test are also in train" in overlap
    assert task.overlap("test") == 2
    before = task.digest("test")
    (tmp_path / "test.jsonl").write_bytes(lines([ROWS[3]]))
    after = tasks.from_config(task={"splits": files, "folder": str(tmp_path)})
    assert after.digest("test") != before


def use(folder, keys):
    task = file_task(folder, **keys)
    assert task.strategy is not None
    task.training_problems(4, None, 0)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"dat": "x"}, "unknown key of task 'dat'; did you mean 'data'"),
        ({"data": "none.jsonl"}, "none.jsonl: no such file"),
        ({"data": "none.jsonl"}, "paths of a task start in the folder of the config"),
        ({"data": None}, "task needs `data`"),
        ({"prompt": "text"}, r"own.jsonl:1: has no field 'text'; it has problem, answer, level"),
        ({"prompt": "{text}?"}, "has no field 'text'"),
        ({"prompt": "{problem} {answer}"}, "the model would read the answer"),
        (
            {"prompt": "tags"},
            r"the field 'tags' must be a string, a number, or messages .* got \['0'\]",
        ),
        ({"gold": "right"}, "has no field 'right'; it has problem, answer"),
        ({"reward": "maths"}, "unknown reward 'maths'; did you mean 'math'"),
        ({"reward": {"function": "no_such_module:f"}}, "no module 'no_such_module'"),
        ({"strategy": "label"}, "strategy must be final_answer, {function: module:name}"),
        ({"splits": {"test": "validation"}}, "'validation' is neither a file"),
        ({"splits": {"test": 41}}, "need 41 different problems, but there are 40"),
        ({"splits": {"test": 40}}, "the split 'train' of .*own.jsonl is empty"),
        ({"splits": {"test": True}}, "splits.test must be a file"),
        ({"system": "s", "chat": False}, "system needs chat"),
        ({"chat": "yes"}, "task.chat must be true or false or null, got 'yes'"),
        ({"max_new_tokens": 0}, "max_new_tokens must be a number above 0"),
    ],
)
def test_wrong_keys_get_a_sentence(tmp_path, keys, message):
    with pytest.raises((ConfigError, DataError), match=message):
        use(tmp_path, keys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is empty"),
        (b"[]", "is empty"),
        (b'{"problem": "a"\n', "is not JSON"),
        (b'[{"problem": "a"}, 3]', "2: must be an object, got int"),
        (b'{"problem": "a"}\n', "has none of the fields answer, gold, final_answer, target"),
        (b'{"question": "", "answer": 1}\n', "the field 'question' is empty"),
        (b'{"problem": "a", "answer": ""}\n' * 30, "no gold of the split 'train' can be used"),
        (b"\x1f\x8b broken", "its gzip data are damaged"),
    ],
)
def test_damaged_data_get_a_sentence(tmp_path, text, message):
    (tmp_path / "own.jsonl").write_bytes(text)
    with pytest.raises((ConfigError, DataError), match=message):
        tasks.from_config(
            task={"splits": {"train": "own.jsonl"}, "folder": str(tmp_path)}
        ).training_problems(4, None, 0)


def test_a_data_set_that_cannot_be_loaded(tmp_path, monkeypatch):
    def refuse(*_):
        raise ConnectionError("offline\nand more")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    task = file_task(tmp_path, data="nobody/nothing")
    with pytest.raises(ConfigError, match=r"data set nobody/nothing \(ConnectionError: offline\)"):
        task.training_problems(4, None, 0)


def test_the_splits_of_a_data_set(tmp_path):
    parts = {"train": ROWS[:30], "validation": ROWS[30:36], "test": ROWS[36:]}
    whole = {split: datasets.Dataset.from_list(rows) for split, rows in parts.items()}
    datasets.DatasetDict(whole).save_to_disk(tmp_path / "saved")
    task = file_task(tmp_path, data="saved")
    assert task.splits == ("train", "validation", "test")
    assert len(task.problems("validation", None, 0).problems) == 6
    named = file_task(tmp_path, data="saved", splits={"train": "train", "dev": "validation"})
    assert named.splits == ("train", "dev")
    assert named.problems("dev", 2, 0).split == "dev"
    with pytest.raises(ConfigError, match=r"'dev' is neither .* which has train, validation, test"):
        file_task(tmp_path, data="saved", splits={"test": "dev"}).usable("test")


def test_a_domain_and_a_task_exclude_each_other(tmp_path):
    with pytest.raises(ConfigError, match=r"give domain .* or task .*, got neither"):
        tasks.from_config()
    with pytest.raises(ConfigError, match="got both"):
        tasks.from_config("polynomial", {"data": "own.jsonl"})
    (tmp_path / "c.yaml").write_text("name: x\n")
    with pytest.raises(ConfigError, match="neither the key 'task' nor 'domain'"):
        tasks.read_config(tmp_path / "c.yaml")


@pytest.mark.parametrize("own", [True, False])
def test_a_problem_has_the_same_id_in_training_and_in_every_evaluation(tmp_path, own):
    """By the file's ids, or by hashes of prompts; a repeated prompt gets a number."""
    rows = [{"id": f"p{place}", **row} if own else row for place, row in enumerate(ROWS)]
    rows = rows if own else [*rows, ROWS[0]]
    task = file_task(tmp_path, rows, splits={"train": len(ROWS) - 10, "test": 10})
    trained = task.training_problems(200, None, 0)
    assert all(one.id.startswith("own/train/") for one in trained)
    assert len({one.id for one in trained}) == len(task.usable(TRAIN))
    every = {one.prompt: one.id for one in task.problems("test", None, 0).problems}
    for seed in range(3):
        some = task.problems("test", 3, seed).problems
        assert {one.prompt: one.id for one in some}.items() <= every.items()


NESTED = [{"problem": f"q{i}", "meta": {"gold": i} if i % 4 else {"b": 1}} for i in range(12)]


def test_all_rows_without_a_nested_gold_are_named_and_may_be_skipped(tmp_path):
    keys = {"gold": "meta.gold", "reward": "number", "splits": {"test": 3}}
    message = r"own.jsonl: 3 of 12 rows have no field 'meta.gold' \(at 1, 5, 9\): complete them, or"
    with pytest.raises(DataError, match=message):
        file_task(tmp_path, NESTED, **keys).usable(TRAIN)
    task = file_task(tmp_path, NESTED, skip_missing=True, **keys)
    kept = {split: [one.prompt for one in task.usable(split)] for split in task.splits}
    assert {*kept[TRAIN], *kept["test"]} == {f"q{i}" for i in range(12) if i % 4}
    assert len(kept[TRAIN]) == 6
    assert len(kept["test"]) == 3
    assert task.notes([TRAIN])[0] == "left out: 3 rows without a problem (task.skip_missing)"
    nowhere = file_task(tmp_path, NESTED, **keys | {"gold": "meta.right", "skip_missing": True})
    with pytest.raises(DataError, match=r"1: has no field 'meta\.right'; it has problem, meta"):
        nowhere.usable(TRAIN)


def test_null_golds_stay_where_a_function_reads_them_and_are_counted(tmp_path):
    (tmp_path / "mine.py").write_text("def score(completions, answer, **_):\n    return answer\n")
    rows = [{"problem": f"q{i}", "answer": str(i) if i else None} for i in range(8)]
    task = file_task(tmp_path, rows, reward={"function": "mine:score"}, splits={TRAIN: 1.0})
    assert len(task.usable(TRAIN)) == 8
    assert len(file_task(tmp_path, rows, reward="number", splits={TRAIN: 1.0}).usable(TRAIN)) == 7


TURNS = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": "Let me think."},
    {"role": "user", "content": "Well?"},
]


def test_a_prompt_of_several_turns_keeps_its_messages(tmp_path):
    rows = [{"prompt": TURNS, "answer": "4"}, {"prompt": TURNS[1:2], "answer": "4"}]
    task = file_task(tmp_path, rows, reward="number", splits={"test": 1.0})
    [long, short] = task.problems("test", None, 0).problems
    assert long.prompt == (
        "system: Be brief.\n\nuser: 2 + 2?\n\nassistant: Let me think.\n\nuser: Well?"
    )
    assert short.prompt == "2 + 2?"
    assert task.form.prompt(pickle.loads(pickle.dumps(long)).prompt, True) == TURNS
    assert PromptForm(system="Hello").prompt(Conversation(TURNS[1:]), True) == [
        {"role": "system", "content": "Hello"},
        *TURNS[1:],
    ]
    with pytest.raises(ConfigError, match="has a system message already"):
        PromptForm(system="Hello").prompt(long.prompt, True)
    with pytest.raises(ConfigError, match="need a model with a chat template"):
        task.form.prompt(long.prompt, False)


def test_functions_receive_the_messages_of_several_turns(tmp_path):
    (tmp_path / "turns.py").write_text(
        "def length(prompts, completions, **_): return [float(len(p) == 4) for p in prompts]\n"
        "def last(prompts, completions, **_): return [p[-1]['content'] for p in prompts]\n"
    )
    task = file_task(
        tmp_path,
        [{"prompt": TURNS, "answer": "4"}],
        reward={"function": "turns:length"},
        strategy={"function": "turns:last"},
        splits={"test": 1.0},
    )
    found = task.problems("test", None, 0, chat=True)
    assert [(one.correct, one.strategy) for one in found.read(found.problems[0], ["4"])] == [
        (True, "Well?")
    ]


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        (None, "is empty"),
        ("  ", "is empty"),
        ([], "is empty"),
        ({"role": "user"}, "must be a string, a number, or messages"),
        ([{"role": "robot", "content": "x"}], "messages with a role of system, user"),
        (
            [{"role": "user", "content": "2?"}, {"role": "assistant", "content": "4"}],
            "ends with an",
        ),
        ([{"role": "user", "content": " "}], "ends with an answer or an empty message"),
    ],
)
def test_all_rows_without_a_prompt_are_named_and_may_be_skipped(tmp_path, prompt, why):
    rows = [{"problem": f"{i}?", "answer": i} for i in range(9)]
    rows[2]["problem"] = rows[5]["problem"] = prompt
    with pytest.raises(DataError, match=rf"2 of 9 rows have a prompt .*{why}.* \(at 3, 6\)"):
        file_task(tmp_path, rows).usable(TRAIN)
    task = file_task(tmp_path, rows, skip_missing=True, splits={"test": 2})
    assert {one.prompt for split in task.splits for one in task.usable(split)} == {
        f"{i}?" for i in range(9) if i not in (2, 5)
    }


def test_a_field_of_two_kinds_of_nested_values_is_named(tmp_path):
    rows = [{"problem": f"{i}?", "answer": i, "meta": {"level": i}} for i in range(9)]
    rows[1]["meta"] = {"level": "hard"}
    task = file_task(tmp_path, rows, splits={"test": 2})
    with pytest.raises(DataError, match=r"the field 'meta' holds .* values of two kinds"):
        training_prompts(task, task.usable(TRAIN))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(lines(ROWS))[:-20], "own.jsonl.gz: its gzip data are damaged or cut off"),
        (gzip.compress(b"{"), "own.jsonl.gz:1: is not JSON.* the last line seems to be cut off$"),
    ],
    ids=["cut", "no JSON"],
)
def test_a_damaged_compressed_file_gets_a_sentence(tmp_path, content, said):
    (tmp_path / "own.jsonl.gz").write_bytes(content)
    task = tasks.from_config(task={"data": "own.jsonl.gz", "folder": str(tmp_path)})
    with pytest.raises(DataError, match=said):
        task.usable(TRAIN)


def test_a_table_of_one_column_needs_no_separator(tmp_path):
    (tmp_path / "own.csv").write_text("problem\none\ntwo\n")
    spec = {"data": "own.csv", "folder": str(tmp_path), "splits": {"test": 1.0}}
    task = tasks.from_config(task={**spec, "reward": {"function": "math:floor"}})
    assert [one.prompt for one in task.all_problems("test")] == ["one", "two"]


def test_problems_that_contradict_each_other_in_an_evaluation_are_named(tmp_path):
    rows = [*ROWS[:9], {**ROWS[3], "answer": 7}, ROWS[4]]
    [note] = file_task(tmp_path, rows, splits={"test": 1.0}).notes(["test"])
    assert note.startswith("1 of the problems of test ask what another asks, with another gold")
    assert "own.jsonl:10 and" in note


@pytest.mark.parametrize("name", ["own.csv", "own.tsv"])
def test_csv_is_rows_of_strings(tmp_path, name):
    delimiter = "\t" if ".tsv" in name else ","
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([["problem", "answer", "note"], ["one,\ntwo", "12", ""], ["three", "3", "x"]])
    content = text.getvalue().encode("utf-8-sig")
    (tmp_path / name).write_bytes(content)
    task = tasks.from_config(task={"data": name, "folder": str(tmp_path), "splits": {"test": 1.0}})
    first, second = task.problems("test", None, 0).problems
    assert (first.prompt, first.gold, first.columns["note"]) == ("one,\ntwo", "12", None)
    assert (second.prompt, second.gold, second.columns["note"]) == ("three", "3", "x")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"problem,answer\nx,1\ny\n", r"own.csv:3: has 1 cells, but line 1 names 2"),
        (b"problem,problem\nx,1\n", r"own.csv:1: must name each column"),
        (b'problem,answer\n"x,1\n', "own.csv:2: is not CSV"),
        (b"problem,answer\n\xff,1\n", "own.csv: is not UTF-8"),
        (b"", "own.csv.* has none of the fields|own.csv is empty"),
    ],
)
def test_damaged_csv_is_refused_with_its_line(tmp_path, content, said):
    (tmp_path / "own.csv").write_bytes(content)
    with pytest.raises((ConfigError, DataError), match=said):
        tasks.from_config(task={"data": "own.csv", "folder": str(tmp_path)}).usable(TRAIN)


def test_pictures_are_left_out_and_said_to_be(tmp_path):
    rows = [{**row, "image": f"{row['answer']}.png"} for row in ROWS]
    task = file_task(tmp_path, rows)
    assert "image" not in task.usable(TRAIN)[0].columns
    [note] = task.notes(["test"])
    assert note.startswith("the field 'image' is left out, because models read only text here")
