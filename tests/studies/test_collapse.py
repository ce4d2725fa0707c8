"""The command prints the shares of the policies, the same as in the tutorial."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from studies import collapse

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "collapse.ipynb"


@pytest.fixture(scope="module")
def paths():
    return collapse.trained()


def printed_by_the_tutorial():
    cells = json.loads(TUTORIAL.read_text(encoding="utf-8"))["cells"]
    return "".join(
        "".join(output.get("text", "")) for cell in cells for output in cell.get("outputs", [])
    )


def test_the_policies_are_those_of_the_tutorial(paths):
    printed = printed_by_the_tutorial()
    for name, path in paths.items():
        first = name.split(",")[0]
        [shares] = re.findall(rf"^{first} +\[(0\.\d[\d. ]+)\]", printed, re.MULTILINE)[:1]
        np.testing.assert_allclose(path[-1], np.array(shares.split(), float), atol=5.1e-4)
        np.testing.assert_allclose(path[0], collapse.START)


def test_pass_at_k_after_the_change_is_that_of_the_tutorial(paths):
    printed = printed_by_the_tutorial()
    rows = collapse.after_the_change(paths)[1:]
    for row, label in zip(rows, ("start", "GRPO", "Poly-EPO"), strict=True):
        [shown] = re.findall(rf"^{label} +([\d.]+%.*)$", printed, re.MULTILINE)
        assert re.findall(r"[\d.]+%", row) == shown.split()


def test_a_bar_has_the_shares_of_the_policy(paths):
    for path in paths.values():
        for policy in path[[0, 100, 3000]]:
            drawn = collapse.bar(policy)
            assert len(drawn) == collapse.WIDTH
            shares = [drawn.count(way) / collapse.WIDTH for way in collapse.WAYS]
            np.testing.assert_allclose(shares, policy, atol=1 / collapse.WIDTH)
    assert collapse.bar(np.array([0, 0, 0, 0, 0, 1.0])) == "F" * collapse.WIDTH


def test_the_command_shows_one_way_and_five(paths, monkeypatch, capsys):
    monkeypatch.setattr(collapse, "trained", lambda: paths)
    collapse.main([])
    printed = capsys.readouterr().out
    _, grpo, poly = re.search(r"^ 3000 .*$", printed, re.MULTILINE).group().split()
    assert grpo.count("A") > 0.8 * collapse.WIDTH
    assert {poly.count(way) for way in "ABCDE"} == {collapse.WIDTH // 5}
    assert max(map(len, printed.splitlines())) <= 90
