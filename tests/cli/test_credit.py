"""`setrl credit`: labels that mean no strategy."""

import json

import pytest


def test_a_label_may_be_declared_degenerate(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "strategies": [100, 1, 2, 100]}))
    code, out, _ = setrl("credit", path, "--set-size", 2, "--degenerate", 100)
    assert code == 0
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "strategies": [-1, 1, 2, -1]}))
    _, expected, _ = setrl("credit", path, "--set-size", 2)
    assert json.loads(out)["advantages"] == json.loads(expected)["advantages"]


def test_order_grad_takes_its_weights(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1, 0.5]}))
    spelled = "{method: order_grad, weights: [0, 0, 1]}"
    code, out, _ = setrl("credit", path, "--method", spelled)
    assert code == 0
    _, expected, _ = setrl("credit", path, "--method", "maxpo", "--set-size", 3)
    assert json.loads(out)["advantages"] == pytest.approx(json.loads(expected)["advantages"])
    _, out, _ = setrl("credit", path, "--method", "order_grad", "--set", "weights=[0, 0, 1]")
    assert json.loads(out)["advantages"] == pytest.approx(json.loads(expected)["advantages"])
    code, _, error = setrl("credit", path, "--method", "order_grad")
    assert code == 2
    assert "weights" in error


def test_options_of_methods_are_set(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "strategies": [1, 1, 2, 1]}))
    _, out, _ = setrl("credit", "--set", "alpha=0.5", path, "--method", "concave_counts")
    assert json.loads(out)["advantages"] == pytest.approx([2**-0.5, 0, 1, 2**-0.5])
    assert json.loads(out)["credit"]["advantage"]["alpha"] == 0.5
    _, out, err = setrl("credit", path, "--method", "concave_counts")
    assert json.loads(out)["advantages"] == [0.5, 0, 1, 0.5]
    assert "null" not in err
    code, _, error = setrl("credit", path, "--set", "alpha=0")
    assert code == 2
    assert "unknown option of poly_epo 'alpha'. Known: set_size" in error


def test_unknown_credit_is_null_and_not_0(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    rows = [{"id": i, "rewards": [1, 0, 1], "strategies": c}
            for i, c in enumerate([[1, 2, None], [1, 2, 2], [1, None, None]])]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    code, out, error = setrl("credit", path, "--method", "maxpo", "--set-size", 2)
    assert code == 0
    code, out, error = setrl("credit", path, "--set-size", 2)
    assert code == 0
    first, second, third = (json.loads(line) for line in out.splitlines())
    assert first["advantages"] == [None] * 3  # two usable samples are too few for sets of two
    assert first["credit"]["advantage"]["skipped"] is True
    assert None not in second["advantages"]
    assert third["advantages"] == [None] * 3
    assert "null: 3 samples left out; all samples of 2 groups with too few" in error
    assert "3 groups of 3 samples; credited: 2 right and 1 wrong" in error
    _, out, _ = setrl("credit", path, "--method", "concave_counts")
    assert json.loads(out.partition("\n")[0])["advantages"] == [1, 0, None]


def test_a_label_of_100_beside_small_ones_is_warned_about(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "strategies": [100, 1, 2, 100]}))
    code, _, error = setrl("credit", path, "--set-size", 2)
    assert code == 0
    assert "degenerate" in error


@pytest.mark.parametrize("labels", [[3, 1, 2, 1], [100, 40, 12, 7], [100, None, -1, 100]])
def test_other_labels_are_not_warned_about(setrl, tmp_path, labels):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "strategies": labels}))
    code, _, error = setrl("credit", path, "--set-size", 2)
    assert code == 0
    assert "Poly-EPO" not in error


def test_a_log_may_mark_degenerate_samples_by_100(setrl, tmp_path):
    log, output = tmp_path / "1.jsonl", tmp_path / "samples.jsonl"
    lines = [
        {"input": "q", "output": f"{i}", "gts": "7", "score": 1.0, "step": 1, "cluster": label}
        for i, label in enumerate([1, 100, 2, 1])
    ]
    log.write_text("\n".join(map(json.dumps, lines)))
    command = ("import", "verl", log, "--output", output, "--strategy", "cluster")
    code, _, error = setrl(*command)
    assert code == 0
    assert "--degenerate 100" in error
    assert json.loads(output.read_text())["strategies"] == ["1", "100", "2", "1"]
    code, _, error = setrl(*command, "--degenerate", 100)
    assert code == 0
    assert "--degenerate" not in error
    assert json.loads(output.read_text())["strategies"] == ["1", -1, "2", "1"]


def test_a_method_may_be_a_config(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "strategies": [0, 1, 2, 0]}))
    both = "{method: sum, of: [{method: dr_grpo, weight: 0.5}, {method: poly_epo, set_size: 2}]}"
    code, out, error = setrl("credit", path, "--method", both)
    assert code == 0
    assert "0.5 dr_grpo + 1 poly_epo, K = 2: 1 group of 4 samples" in error
    parts = []
    for name in ("dr_grpo", "{method: poly_epo, set_size: 2}"):
        _, part, _ = setrl("credit", path, "--method", name)
        parts.append(json.loads(part)["advantages"])
    want = [0.5 * one + other for one, other in zip(*parts, strict=True)]
    assert json.loads(out)["advantages"] == pytest.approx(want)
    assert json.loads(out)["credit"]["advantage"]["method"] == "0.5 dr_grpo + 1 poly_epo"


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("{method: sum", "'{method: sum':1: is not YAML: expected ',' or '}'"),
        ("{method: sum}", "a sum of methods needs of"),
        (
            "{method: set_rl, objective: majority}",
            "reads answers: the file does not hold it; give its",
        ),
    ],
)
def test_a_wrong_config_of_a_method_is_answered(setrl, tmp_path, method, message):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1, 0], "strategies": [0, 1, 2, 0, 1]}))
    code, _, error = setrl("credit", path, "--method", method)
    assert code == 2
    assert message in error


def test_only_an_earlier_output_is_written_over(setrl, tmp_path):
    path, output = tmp_path / "groups.jsonl", tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1]}))
    output.write_text('{"thesis": "the only copy"}\n')
    command = ("credit", path, "--method", "maxpo", "--set-size", 2, "--output", output)
    code, _, error = setrl(*command)
    assert (code, output.read_text()) == (2, '{"thesis": "the only copy"}\n')
    assert "mine.jsonl exists already and is not this log with credit" in error
    output.unlink()
    assert setrl(*command)[0] == setrl(*command)[0] == 0
    before = output.read_text()
    path.write_text(json.dumps({"rewards": [1, 0, 0, 1]}))
    code, _, error = setrl(*command)
    assert (code, output.read_text()) == (2, before)
    assert "is not this log with credit: give another output" in error
