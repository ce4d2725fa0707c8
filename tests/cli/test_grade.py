"""`setrl grade`: the verdict, why, and the exit code."""

import json

import pytest

from setrl.cli import main


def graded(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["grade", *arguments])
    return left.value.code


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("1,2", "2,1"),
            0,
            "right: each of the 2 members of the gold is in the answer\n",
        ),
        (("x^2+1", r"So \boxed{x^2-1}."), 10, "at x = 2: the gold is 5 there, and the answer is 3"),
        (("--", "5", "-5"), 10, "wrong: the number -5 is not 5"),
        (("5", "5 trees"), 11, "unreadable: 5 trees has no certain reading"),
        (("5", "2x+"), 11, "unreadable: something is missing in the answer"),
        (("--units", "5", "5 cm"), 0, "right:"),
        (("3e-1", "0.3", "--type", "number"), 0, "right: "),
        (("3e-1", "0.3"), 10, "or as a product with e"),
        (("x<2", "2x+3<7", "--prompt", "Solve $2x+3<7$."), 10, "wrong: "),
    ],
)
def test_it_says_the_verdict_and_why(arguments, code, said, capsys):
    assert graded(*arguments) == code
    assert said in capsys.readouterr().out


def test_it_prints_the_proof(capsys):
    assert graded("0.5", r"\frac12", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "right"
    assert said["certificate"]["rule"] == "number"
    assert said["witness"] is None


def test_a_damaged_gold_is_bad_data(capsys):
    assert graded(r"\frac{}{2}", "1") == 3
    assert "an empty group" in capsys.readouterr().err
