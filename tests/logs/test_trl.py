"""TRL's completions, as TRL 1.16.0 itself wrote them (tests/data/make_trl_completions.py)."""

import shutil
from pathlib import Path

import pytest

from setrl.logs.importers.trl import LABEL_COLUMNS
from setrl.support.errors import ConfigError, DataError
from tests.logs.reading import read_log

pyarrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
FOLDER = Path(__file__).parents[1] / "data" / "trl_completions"


def rows(step):
    return pq.read_table(FOLDER / f"completions_{step:05d}.parquet").to_pylist()


def read(path=FOLDER, **options):
    return read_log("trl", path, **{"reward": "short", **options})


def test_the_columns_are_those_that_are_documented():
    table = pq.read_table(FOLDER / "completions_00001.parquet")
    assert table.column_names == [
        "step", "prompt", "completion", "short", "brevity", "strategy", "advantage",
    ]  # fmt: skip


def test_one_file_gives_a_record_a_prompt():
    imported = read(FOLDER / "completions_00002.parquet")
    logged = rows(2)
    assert imported.notes == []
    assert [r["prompt"] for r in imported.records] == ["12*3:", "8*3:", "5*5:"]
    for place, record in enumerate(imported.records):
        group = logged[4 * place : 4 * place + 4]
        assert record["correct"] == [int(row["short"]) for row in group]
        assert record["texts"] == [row["completion"] for row in group]
        assert (record["n"], record["step"], record["split"]) == (4, 2, "trl")
        assert "rewards" not in record
        assert record["strategies"] == [row["strategy"] for row in group]
        assert record["answers"] == [None] * 4


def test_the_last_step_is_read_and_shared_prompts_are_said():
    imported = read()
    assert imported.notes == [
        "left out: all steps but 3, of 1 to 3; setrl import reads more with --steps FIRST:LAST",
        "several rows of the data set seem to share 1 prompt: the log does not separate their "
        "samples, which count as one group",
        "left out: 4 samples beyond n = 4 of their group",
    ]
    assert [(r["prompt"], r["n"]) for r in imported.records] == [("7*8:", 4), ("9*9:", 4)]
    assert imported.records[0]["texts"][:4] == [row["completion"] for row in rows(3)[:4]]


def test_of_several_steps_each_prompt_s_latest_group_is_read():
    imported = read(steps=(1, 2))
    assert [(r["step"], r["prompt"]) for r in imported.records] == [
        (1, "4*5:"), (1, "6*2:"), (2, "12*3:"), (2, "8*3:"), (2, "5*5:"),
    ]  # fmt: skip
    assert imported.notes[0].startswith(
        "left out: 4 samples of prompts that come again at a later step"
    )


def test_graded_rewards_stay_graded():
    path = FOLDER / "completions_00002.parquet"
    with pytest.raises(ConfigError, match=r"graded \(0.0256.* to 0.0434.*--correct-above X says"):
        read(path, reward="brevity")
    [record, *_] = read(path, reward="brevity", correct_above=0.03).records
    assert record["rewards"] == [row["brevity"] for row in rows(2)[:4]]
    assert record["correct"] == [int(row["brevity"] > 0.03) for row in rows(2)[:4]]
    assert 0 < sum(record["correct"]) < 4


def test_scores_can_be_added_and_another_says_what_is_correct():
    path, logged = FOLDER / "completions_00002.parquet", rows(2)[:4]
    [record, *_] = read(path, reward="short + 0.5*brevity", correct="short").records
    assert record["rewards"] == [row["short"] + 0.5 * row["brevity"] for row in logged]
    assert record["correct"] == [int(row["short"]) for row in logged]
    [record, *_] = read(path, reward="short", correct="brevity", correct_above=0.03).records
    assert record["correct"] == [int(row["brevity"] > 0.03) for row in logged]
    for named, said in (
        ({"reward": "short+speed"}, "has no score 'speed'"),
        ({"reward": "short+x*brevity"}, "'x' is no weight"),
        ({"correct": "speed"}, "has no score 'speed'"),
        ({"correct": "brevity"}, "brevity is graded: --correct-above"),
    ):
        with pytest.raises(ConfigError, match=said):
            read(path, **named)


def test_another_column_may_hold_the_strategy():
    [record, *_] = read(FOLDER / "completions_00001.parquet", strategy="completion").records
    assert record["strategies"] == [row["completion"].strip() for row in rows(1)[:4]]


def test_samples_without_a_strategy_are_those_that_our_trainers_mark(tmp_path):
    """A name is a name in every column: only −1 is of no strategy."""
    words = ["two", "degenerate", None, "-1"]
    ours = pq.read_table(FOLDER / "completions_00001.parquet").slice(0, 4)
    table = ours.drop_columns("strategy")
    path = tmp_path / "completions_00001.parquet"
    for column in (*LABEL_COLUMNS, "mine"):
        pq.write_table(table.append_column(column, [words]), path)
        [record] = read(tmp_path, strategy=column).records
        assert record["strategies"] == ["two", "degenerate", None, -1]
        [record] = read(tmp_path, strategy=column, degenerate="degenerate").records
        assert record["strategies"] == ["two", -1, None, -1]


def test_conversations_are_read(tmp_path):
    import pyarrow as pa

    row = {"step": 1, "prompt": [{"role": "system", "content": "s"}, {"role": "user",
           "content": "q"}], "completion": [{"role": "assistant", "content": "a"}],
           "reward": None, "advantage": 0.0}  # fmt: skip
    path = tmp_path / "completions_00001.parquet"
    pq.write_table(pa.Table.from_pylist([row, {**row, "reward": 1.0}]), path)
    imported = read(path, reward=None)
    assert imported.notes == ["kept as null: 1 sample without a score (null or NaN)"]
    [record] = imported.records
    assert (record["prompt"], record["texts"], record["correct"]) == ("q", ["a", "a"], [None, 1])


def test_what_is_wrong_is_named(tmp_path):
    both = (
        r"has the scores short, brevity: name one with --reward, or their sum: --reward "
        r"short\+brevity --correct short; --strategy names a column of strategies \(way\)"
    )
    names = ["step", "prompt", "completion", "short", "brevity", "way", "advantage"]
    logged = pq.read_table(FOLDER / "completions_00001.parquet").rename_columns(names)
    pq.write_table(logged, tmp_path / "completions_00001.parquet")
    with pytest.raises(ConfigError, match=both):
        read(tmp_path, reward=None)
    (tmp_path / "completions_00001.parquet").unlink()
    with pytest.raises(ConfigError, match="has no score 'speed'; it has short, brevity"):
        read(reward="speed")
    with pytest.raises(ConfigError, match="has no steps 7 to 9: it has 1 to 3"):
        read(steps=(7, 9))
    with pytest.raises(DataError, match="no such file or folder"):
        read(tmp_path / "none")
    with pytest.raises(DataError, match=r"no completions_\*.parquet in it"):
        read(tmp_path)
    (tmp_path / "completions_00001.parquet").write_text("no")
    with pytest.raises(DataError, match="is not a Parquet file"):
        read(tmp_path)
    shutil.rmtree(tmp_path)


def test_samples_of_the_evaluation_data_are_left_out(tmp_path):
    """They have no advantage: they entered no loss."""
    logged = rows(2)
    evaluated = [row | {"advantage": float("nan"), "completion": "never"} for row in logged[:4]]
    path = tmp_path / "completions_00002.parquet"
    pq.write_table(pyarrow.Table.from_pylist([*logged, *evaluated]), path)
    imported = read(path)
    assert imported.notes == [f"{path.name}: left out: 4 samples of the evaluation data"]
    assert imported.records == read(FOLDER / path.name).records
