"""An evaluator's way with two logs: what the commands say of them, and that all say the same."""

import json

import pytest

from setrl.logs.log import open_log
from setrl.logs.options import LogOptions
from setrl.logs.recording import log_records
from tests.sessions import unwrapped

pytest.importorskip("tyro")

pytestmark = pytest.mark.usefixtures("unsaved_figures")

RIGHT, WRONG = [1, 1, 1, 0], [1, 0, 0, 0]


def log(path, wide, grades=RIGHT, ungraded=False):
    """Eight problems, four samples; a wide model uses another strategy in each sample."""
    rows = []
    for problem in range(8):
        for i, grade in enumerate(grades):
            strategy = f"way {i}" if wide else f"way {int(i == problem % 4)}"
            missing = ungraded and (problem, i) in ((0, 3), (1, 0))
            grade = None if missing else int(grade and problem < 7)
            rows.append({"id": problem, "correct": grade, "strategy": strategy, "answer": str(i)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def bare(path):
    path.write_text("".join(json.dumps({"id": i // 4, "correct": i % 2}) + "\n" for i in range(12)))
    return path


@pytest.mark.parametrize(
    "options", [["--k", 3], ["--k", 2, "--metrics", "pass"], ["--k", 3, "--metrics", "majority"]]
)
@pytest.mark.parametrize("command", ["evaluate", "compare", "report"])
def test_no_command_needs_k_1(setrl, tmp_path, command, options):
    if command == "report":
        pytest.importorskip("matplotlib")
    files = [log(tmp_path / "a.jsonl", True), log(tmp_path / "b.jsonl", False)]
    extra = {
        "evaluate": options,
        "compare": options,
        "report": [*options[:2], "--output", tmp_path / "report"],
    }
    code, _, err = setrl(command, *files[: 1 + (command != "evaluate")], *extra[command])
    assert (code, "Traceback" in err) == (0, False), err


def test_metrics_of_what_no_sample_has_are_left_out_at_any_k(setrl, tmp_path):
    code, out, _ = setrl("evaluate", bare(tmp_path / "bare.jsonl"), "--k", 2)
    assert code == 0
    assert "pass@k" in out
    assert "majority" not in out
    assert "strategies" not in out


@pytest.mark.parametrize(
    ("metric", "lacking"),
    [
        ("strategies", "no sample has a strategy; --strategy"),
        ("majority", "no sample has an answer; --answer"),
        ("max", "all rewards are 0 or 1 (max@k is pass@k then)"),
        ("shared_prefix", "not every problem has two texts; --text"),
        ("strategy", "unknown metric 'strategy'; did you mean 'strategies'?"),
    ],
)
def test_a_metric_that_a_log_cannot_have_is_refused_before_anything_is_printed(
    setrl, tmp_path, metric, lacking
):
    path = bare(tmp_path / "bare.jsonl")
    whose = "" if metric == "strategy" else f"{path}: cannot have the metric {metric}: "
    for command in (["evaluate", path], ["compare", path, path]):
        code, out, err = setrl(*command, "--metrics", "pass", metric)
        assert (code, out) == (2, "")
        assert err.startswith(f"setrl: {whose}{lacking}")


def test_json_holds_the_metrics_that_were_asked_for(setrl, tmp_path):
    command = ("evaluate", log(tmp_path / "a.jsonl", True), "--metrics", "strategies", "--json")
    found = json.loads(setrl(*command)[1])
    assert [*found["metrics"]] == ["strategies@1", "strategies@2", "strategies@4"]
    assert found["band"] is None


# In log a, 21 of 30 graded samples are right; problem 0 has 3/3, problem 1 has 2/3, problem 7 none.
BOUNDS = ((0.75 + 0.5 + 5 * 0.75) / 8, (1 + 0.75 + 5 * 0.75) / 8)
LEFT_OUT = (
    "2 of 32 samples have no grade and are left out of everything, including votes and strategies; "
    "pass@1 would be 62.5% if all of them were wrong, 68.8% if all were right"
)


def test_samples_without_a_grade_are_in_every_output(setrl, tmp_path):
    pytest.importorskip("matplotlib")
    assert BOUNDS == (0.625, 0.6875)
    a = log(tmp_path / "a.jsonl", True, ungraded=True)
    b = log(tmp_path / "b.jsonl", False)
    expected = {"samples": 2, "of_all": 32, "are": "left-out", "if_wrong": 0.625,
                "if_right": 0.6875}  # fmt: skip

    found = json.loads(setrl("evaluate", a, "--json")[1])
    assert f"a.jsonl: {LEFT_OUT}" in found["notes"]
    assert found["ungraded"] == expected
    assert json.loads(setrl("evaluate", b, "--json")[1])["ungraded"] is None

    assert f"A: {LEFT_OUT}" in unwrapped(setrl("compare", a, b)[1])
    assert json.loads(setrl("compare", a, b, "--json")[1])["ungraded"] == {"A": expected}

    setrl("report", a, b, "--output", tmp_path / "report")
    assert f"a: {LEFT_OUT}." in (tmp_path / "report" / "report.html").read_text()
    arms = json.loads((tmp_path / "report" / "summary.json").read_text())["splits"]["given"]["arms"]
    assert (arms["a"]["ungraded"], arms["b"]["ungraded"]) == (expected, None)

    imported = tmp_path / "imported.jsonl"
    setrl("import", "jsonl", a, "--output", imported)
    assert json.loads(setrl("evaluate", imported, "--json")[1])["ungraded"] == expected
    as_wrong = json.loads(setrl("evaluate", imported, "--ungraded", "wrong", "--json")[1])
    assert as_wrong["ungraded"] == {**expected, "are": "wrong"}


def test_a_file_of_setrl_0_7_says_what_was_left_out_at_its_import(setrl, tmp_path):
    old = {"schema_version": 1, "prompt": "p", "split": "s", "n": 2, "ungraded": 2,
           "correct": [1, 0], "strategies": [None] * 2, "answers": [None] * 2}  # fmt: skip
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps(old) + "\n")
    found = json.loads(setrl("evaluate", path, "--json")[1])
    assert (found["ungraded"]["samples"], found["ungraded"]["are"]) == (2, "left-out")
    assert not any("--ungraded" in note for note in found["notes"])  # which this file refuses
    code, _, err = setrl("evaluate", path, "--ungraded", "wrong")
    assert (code, "2 samples without a grade were left out at its import" in err) == (2, True)


def test_samples_without_a_grade_count_as_wrong_if_asked(setrl, tmp_path):
    a = log(tmp_path / "a.jsonl", True, ungraded=True)
    code, out, err = setrl("evaluate", a, "--ungraded", "wrong", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["metrics"]["pass@1"]["value"] == pytest.approx(BOUNDS[0])
    assert found["ungraded"]["if_wrong"] == pytest.approx(BOUNDS[0])
    assert found["ungraded"]["if_right"] == pytest.approx(BOUNDS[1])
    assert found["metrics"]["strategies@4"]["value"] == 4  # they keep their strategies and answers
    assert "counted as wrong: 2 samples without a score (null or NaN)" in err
    assert "have no grade and count as wrong; pass@1 would be 62.5%" in err
    both = json.loads(setrl("compare", a, a, "--ungraded", "wrong", "--json")[1])
    assert both["rows"][0]["first"]["value"] == pytest.approx(BOUNDS[0])


def lost(path, gold=False, grades=((1, 1, None), (1, 0, 1), (None, None, None), (0, 0))):
    """Log problems "0", "1", … with three samples; grades of problem 0 and of problem 2 miss."""
    same = {"predicted_answer": "7", **({"gold_answer": "7"} if gold else {})}
    rows = [
        {"id": str(p), "sample": i, "correct": grade, **same}
        for p, of_problem in enumerate(grades)
        for i, grade in enumerate(of_problem)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


FEW = "1 of 4 problems has fewer than 3 samples and is in no figure, so that every k uses the same"
SOME = (
    "1 of 4 problems has fewer than 3 graded samples only because grades are missing, and is in no "
    "figure, so that every k uses the same problems: --k up to 2 keeps it; --ungraded wrong counts "
    "such samples as wrong; --verify grades each sample by the right answer in the log"
)
BARE = "1 of 4 problems has no graded sample, because grades are missing, and is in no figure: "


@pytest.mark.parametrize("command", ["evaluate", "compare", "report"])
def test_missing_grades_take_no_problem_away_in_silence(setrl, tmp_path, command):
    """Each cause has its own sentence and number, and the bounds hold all problems with 3 draws."""
    a, files = lost(tmp_path / "a.jsonl", gold=True), []
    if command != "evaluate":
        files = [lost(tmp_path / "b.jsonl", True, ((1, 0, 1), (1, 1, 1), (0, 0, 1), (1, 1, 1)))]
    if command == "report":
        pytest.importorskip("matplotlib")
        setrl("report", a, *files, "--k", 1, 3, "--quiet", "--output", tmp_path / "r")
        said = (tmp_path / "r" / "report.html").read_text()
        summary = json.loads((tmp_path / "r" / "summary.json").read_text())
        found = summary["splits"]["given"]["arms"]["a"]["ungraded"]
        assert "a: 1 answer of a problem marked both right and wrong" in said
    else:
        said = unwrapped(setrl(command, a, *files, "--k", 1, 3, "--quiet")[1])
        found = json.loads(setrl(command, a, *files, "--k", 1, 3, "--json")[1])["ungraded"]
        found = found.get("A", found)
    for sentence in (FEW, SOME, BARE):
        assert sentence in said
    assert "not all have" not in said
    assert (found["samples"], found["of_all"]) == (4, 9)
    assert found["if_wrong"] == pytest.approx((2 + 2 + 0) / 9)
    assert found["if_right"] == pytest.approx((3 + 2 + 3) / 9)


def test_only_options_that_help_are_named(setrl, tmp_path):
    without = setrl("evaluate", lost(tmp_path / "a.jsonl"), "--k", 3)[1]
    assert "--ungraded wrong counts" in without
    assert "--verify" not in without
    all_bare = lost(tmp_path / "b.jsonl", grades=((1, None), (None, 1)))
    code, _, err = setrl("evaluate", all_bare, "--k", 2)
    assert code != 0
    assert "no problem has 2 graded samples: the largest number is 1" in err


def test_grades_against_the_right_answer_are_counted(setrl, tmp_path):
    """Votes follow the log, too: the wrong 3 wins the vote on problem 2 as a right answer."""
    rows = [(1, "1/2", "1/2", 0), (1, "1/2", "2", 0), (2, "2", "3", 1), (2, "2", "2", 1)]
    log = tmp_path / "log.jsonl"
    log.write_text(
        "".join(
            json.dumps({"id": i, "prompt": f"p{i}", "gold": gold, "correct": right, "answer": said})
            + "\n"
            for i, gold, said, right in rows
        )
    )
    said = (
        "2 of 4 different answers are graded otherwise than the right answer says, the first: "
        "'1/2' of '1' is marked wrong, and the right answer is '1/2'; pass@k and majority@k follow "
        "the log"
    )
    assert said in setrl("evaluate", log)[2]
    assert "otherwise than" not in setrl("evaluate", log, "--verify")[2]
    log.write_text(log.read_text().replace('"correct": 0', '"correct": null', 1))
    assert "1 of 3 different answers is graded" in setrl("evaluate", log, "--ungraded", "wrong")[2]


def test_only_what_the_log_says_contradicts(setrl, tmp_path):
    """A sample that counts as wrong for want of a grade makes no answer contradictory."""
    a, imported = lost(tmp_path / "a.jsonl", gold=True), tmp_path / "imported.jsonl"
    said = "1 answer of a problem marked both right and wrong, the first: '7' of '1'"
    verify = "; --verify grades each sample by the right answer in the log"
    for option in ("left-out", "wrong"):
        err = setrl("evaluate", a, "--ungraded", option)[2]
        assert f"{said}; votes take it as right, so majority@1 is not pass@1{verify}" in err
    options = LogOptions(ungraded="wrong")
    records = list(log_records(open_log(a, options, ["correct"])))
    imported.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert said in setrl("evaluate", imported)[2]


def test_compare_shows_strategies_by_default_and_says_who_is_narrower(setrl, tmp_path):
    a, b = log(tmp_path / "a.jsonl", True), log(tmp_path / "b.jsonl", False)
    code, out, _ = setrl("compare", a, b)
    assert code == 0
    for row in ("pass@1", "majority@4", "correct strategies@4", "effective strategies",
                "share of the commonest"):  # fmt: skip
        assert f"\n{row} " in out
    out = unwrapped(out)
    assert "b uses fewer strategies than a: effective number 1.75 against 4.00" in out
    assert "its pass@k is not distinguishable from the pass@k of a at any k (all k at once)." in out
    assert "a uses more strategies than b: effective number" in setrl("compare", b, a)[1]
    without = setrl("compare", *[bare(tmp_path / f"{name}.jsonl") for name in "cd"])[1]
    assert "strategies than" not in without
    assert "majority@" not in without


def test_a_report_of_logs_speaks_of_no_split_and_no_seeds(setrl, tmp_path):
    pytest.importorskip("matplotlib")
    a = log(tmp_path / "a.jsonl", True)
    b = log(tmp_path / "b.jsonl", False, WRONG)
    options = ["--k", 3, "--output", tmp_path / "my report"]
    assert setrl("report", a, b, *options)[0] == 0
    page = (tmp_path / "my report" / "report.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    shown = page.partition("<body>")[2].partition('<script type="application/json"')[0]
    for word in ("given", "training seeds", "1 seed", "no training"):
        assert word not in shown, word
    assert "given" not in json.dumps({**data, "command": ""})
    assert "b uses fewer strategies than a: " in shown
    assert f"setrl report {a} {b} --output &#39;{tmp_path}/my report&#39; --k 3" in shown


def test_one_curve_has_one_verdict_in_the_same_words(setrl, tmp_path):
    pytest.importorskip("matplotlib")
    a = log(tmp_path / "a.jsonl", True)
    b = log(tmp_path / "b.jsonl", False, WRONG)
    words = "below a for k = 1"
    setrl("report", a, b, "--output", tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["splits"][0]["title"] == f"pass@1: b is below a. All k at once: b is {words}"
    assert "it solves fewer problems: its pass@k is below the pass@k of a for k = 1" in page
    for ks in ([], ["--k", 1, 4], ["--k", 2, 4]):
        out = setrl("compare", a, b, *ks)[1]
        assert "pass@k: B is below A for k = 1 (95% confidence" in out


def test_compare_and_report_take_the_first_file_as_the_reference(setrl, tmp_path):
    """The same order of files gives the same differences, to the last digit and with the sign."""
    pytest.importorskip("matplotlib")
    a, b = log(tmp_path / "a.jsonl", True), log(tmp_path / "b.jsonl", False, WRONG)
    compared = json.loads(setrl("compare", a, b, "--metrics", "pass", "correct_strategies",
                                "--json")[1])  # fmt: skip
    setrl("report", a, b, "--output", tmp_path / "report")
    summary = json.loads((tmp_path / "report" / "summary.json").read_text())
    [reported] = summary["splits"]["given"]["differences"]
    assert (reported["arm"], reported["against"]) == ("b", "a")
    for row in compared["rows"]:
        expected = reported["metrics"][f"{row['metric']}@{row['k']}"]
        assert {key: row["difference"][key] for key in expected} == expected
    assert compared["rows"][0]["difference"]["value"] < 0  # b solves fewer
    assert compared["band"]["values"] == reported["band"]["values"]


def test_counts_of_strategies_have_two_decimals(setrl, tmp_path):
    out = setrl("evaluate", log(tmp_path / "b.jsonl", False))[1]
    assert "1.75 [" in out


def test_publish_says_that_it_is_for_runs(setrl, tmp_path):
    a = log(tmp_path / "a.jsonl", True)
    code, _, err = setrl("report", a, "--publish", tmp_path / "p")
    assert code == 2
    assert "a report of files is complete in its own folder, which --output names" in err
    assert "Only for the folder of a run" in " ".join(setrl("report", "--help")[1].split())
