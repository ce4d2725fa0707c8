import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from setrl import cli
from setrl.support.errors import DataError
from setrl.tasks.validation import refuse_bad, validate, validate_file

DATA = Path(__file__).parents[1] / "data"
POLARIS = DATA / "polaris_50.jsonl"
BAD_GOLDS = {
    r"OH\perpMN": r"no LaTeX command: \perpMN",
    r"\frac{4a\sqrt{}}{b}": "an empty group",
    r"\frac{^2}{4}": "an exponent or index of nothing",
    r"xyz\lexy+yz+zx\lexyz+2": r"no LaTeX command: \lexy",
    r"\lceiln^{1/r}\rceil": r"no LaTeX command: \lceiln",
    r"b\gef_{n+1}": r"no LaTeX command: \gef",
    r"5(++cd)+8(ac+ad+bd)\le0": "a missing operand",
    r"\frac{2ab}{^2+b^2}": "an exponent or index of nothing",
}


def write(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_every_gold_of_gsm8k_accepts_itself(grader):
    good, bad = validate(DATA / "gsm8k_50.jsonl", grader)
    assert len(good) == 50
    assert not bad


def test_every_gold_of_polaris_accepts_itself_but_for_the_corrupt_ones(grader):
    good, bad = validate(POLARIS, grader)
    assert len(good) + len(bad) == 50
    assert {row.gold: row.reason for row in bad} == BAD_GOLDS


def test_rows_are_named_by_line_and_id(tmp_path, grader):
    path = write(
        tmp_path / "data.jsonl",
        {"id": "a", "answer": "1\u2028"},
        {"id": "b", "answer": r"\frac{}{2}"},
        "{",
        {"unique_id": 7},
        {"answer": ["x+1"]},
        {"answer": ["1", "2"]},
        "[]",
        {"answer": True},
    )
    good, bad = validate(path, grader)
    assert [str(row) for row in bad] == [
        r"line 2 b: an empty group  '\\frac{}{2}'",
        "line 3: is not JSON: Expecting property name enclosed in double quotes at position 2",
        "line 4 7: no field 'answer': it has unique_id",
        "line 6: no answer",
        "line 7: a line must be an object, got list",
        "line 8: no answer",
    ]
    assert [json.loads(line)["answer"] for line in good] == ["1\u2028", ["x+1"]]


def test_the_good_rows_are_written_as_they_were(tmp_path):
    from setrl.rewards import math_answer

    path = write(tmp_path / "data.jsonl", '{"answer":   "1"}', '{"answer": ""}')
    good = tmp_path / "out" / "good.jsonl"
    lines, bad = validate_file(path, math_answer(), good)
    assert good.read_text() == '{"answer":   "1"}\n'
    assert (lines, list(map(str, bad))) == (['{"answer":   "1"}'], ["line 2: empty  ''"])
    with pytest.raises(DataError, match="1 of 2 golds cannot be used for grading: 1 empty"):
        refuse_bad(path, 2, bad)


@pytest.mark.parametrize("content", [None, ""])
def test_files_that_cannot_be_read_are_an_error(content, tmp_path, grader):
    path = tmp_path / "data.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match=r"cannot be read|is empty"):
        validate(path, grader)


def test_a_row_that_is_no_text_is_a_bad_row(tmp_path, grader):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"answer": "1"}\n\xff\n')
    good, bad = validate(path, grader)
    assert good == ['{"answer": "1"}']
    assert str(bad[0]).startswith("line 2: is not text in UTF-8: ")


def test_the_command_leaves_with_three_when_a_gold_is_bad(tmp_path):
    command = [shutil.which("setrl", path=str(Path(sys.executable).parent)) or "setrl"]
    path = write(tmp_path / "data.jsonl", {"gold": "1"}, {"gold": "2x+"})
    bad = subprocess.run(
        [*command, "validate-data", path, "--gold", "gold"], capture_output=True, text=True
    )
    assert bad.returncode == 3
    assert bad.stdout == "line 2: a missing operand  '2x+'\n"
    fine = subprocess.run(
        [*command, "validate-data", DATA / "gsm8k_50.jsonl"], capture_output=True, text=True
    )
    assert fine.returncode == 0
    assert "all 50 golds" in fine.stdout


def test_wrong_settings_are_wrong_usage(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["validate-data", str(tmp_path / "data.jsonl"), "--workers", "0"])
    assert left.value.code == 2
    assert "workers must be above 0, got 0" in capsys.readouterr().err


def test_good_rows_are_written_over_an_earlier_part_alone(tmp_path, capsys):
    path, good = write(tmp_path / "data.jsonl", {"answer": "1"}), tmp_path / "good.jsonl"
    good.write_text("the only copy")
    command = ["validate-data", str(path), "--good", str(good)]
    assert left_with(command) == 2
    assert good.read_text() == "the only copy"
    assert "exists already" in capsys.readouterr().err
    good.unlink()
    assert [left_with(command), left_with(command)] == [0, 0]
    assert good.read_text() == path.read_text()


def left_with(command):
    with pytest.raises(SystemExit) as left:
        cli.main(command)
    return left.value.code
