"""The README's picture is made from the committed shares, and its caption has their numbers."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from setrl.support import files
from setrl.support.errors import RunError

pytest.importorskip("tyro")
pytest.importorskip("matplotlib")

from studies import animation, picture
from studies.picture import FOLDER, PASS, PICTURE, RESULTS, SHARES, TRACK, value
from tests import fake_run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shares():
    return files.read_json(FOLDER / SHARES)


@pytest.fixture(scope="module")
def splits():
    return files.read_json(FOLDER / RESULTS)["splits"]


def moving(svg: str, look: str) -> dict[str, str]:
    """Class of what moves → its rule, for rules that contain `look`."""
    return {name: rule for name, rule in re.findall(r"^\.(m\d+)\{(.*)$", svg, re.M) if look in rule}


def test_the_committed_picture_is_what_the_script_makes(shares, splits):
    made = picture.picture(shares, splits)
    assert (FOLDER / PICTURE).read_text(encoding="utf-8") == made
    assert len(made) < 60_000


def test_the_start_page_and_the_readme_show_it_and_say_what_the_data_say(splits):
    for page in ("docs/index.md", "README.md"):
        words = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert f"![{picture.ALT}](" in words
        assert "GRPO keeps one right strategy, and concave counts as many as the base" in words
    right = "correct_strategies@32"
    base, grpo, counts = (value(splits, arm, right) for arm in ("base", *picture.ARMS))
    assert round(grpo) == 1
    assert counts > base
    assert value(splits, "grpo", PASS, "shifted") < 0.1
    assert value(splits, "concave_counts", PASS, "shifted") > 0.8


def test_discs_and_bars_have_the_sizes_of_the_data(shares, splits):
    """A changed share or result changes the picture, at its frame and in proportion."""
    made = picture.picture(shares, splits)
    areas = [0.2005, 0.9989]  # GRPO's x=0
    assert [shares["arms"]["grpo"]["shares"]["x=0"][frame] for frame in (0, -1)] == areas
    rule = next(iter(moving(made, "scale(").values()))
    scales = [float(found) for found in re.findall(r"scale\(([\d.]+)\)", rule)]
    assert [round(scale**2, 3) for scale in (scales[3], scales[0])] == [0.201, 0.998]
    length = TRACK * value(splits, "concave_counts", PASS, "shifted")
    assert f'width="{length:.1f}"' in made


def test_every_frame_is_a_distribution_over_strategies(shares):
    for arm in shares["arms"].values():
        for frame in zip(*arm["shares"].values(), strict=True):
            assert 0.98 < sum(frame) < 1.001  # the rest could not be read


def test_it_opens_with_the_end_and_stands_there_where_less_motion_is_asked_for(shares, splits):
    made = picture.picture(shares, splits)
    root = ET.fromstring(made)
    assert root.tag.endswith("svg")
    assert "<script" not in made
    assert made.index("prefers-reduced-motion") > max(
        made.index(f"@keyframes {m}") for m in moving(made, "")
    )
    for rule in moving(made, "").values():
        still, keyframes = rule.split(";animation-name", 1)
        states = re.findall(r"\{([^{}]*)\}", keyframes)
        assert states[0] == states[1] == states[-1] == still
        assert states[2] != still


def test_a_run_is_collected_and_drawn(tmp_path, splits):
    run_dir = fake_run.make(tmp_path / "run", tuple(picture.ARMS), steps=50, evaluated=False)
    collected = files.read_json(picture.collect(run_dir, tmp_path))
    assert collected["seeds"] == ["0", "1"]
    assert collected["steps"][-1] == 50
    first = [fake_metrics(run_dir, seed)[0]["reward/pass@1"] for seed in (0, 1)]
    assert collected["arms"]["grpo"][PASS][0] == pytest.approx(sum(first) / 2, abs=1e-4)
    assert picture.picture(collected, splits).count("<circle") == 2 * (2 * 9 + 1)


def fake_metrics(run_dir, seed):
    return files.read_lines(run_dir / "grpo" / f"seed_{seed}" / "metrics.jsonl")


def test_a_run_without_an_arm_and_an_unfinished_one_are_refused(tmp_path):
    without = fake_run.make(tmp_path / "without", ("grpo",), steps=3, evaluated=False)
    with pytest.raises(RunError, match="lacks concave_counts"):
        picture.collect(without, tmp_path)
    short = fake_run.make(tmp_path / "short", tuple(picture.ARMS), steps=3, evaluated=False)
    log = short / "grpo" / "seed_0" / "metrics.jsonl"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(RunError, match="unequal length"):
        picture.collect(short, tmp_path)


def test_frames_come_in_time_for_the_results(shares):
    last = animation.FIRST + animation.FRAME * (len(shares["steps"]) - 1)
    assert animation.SHOWN < animation.BACK < animation.FIRST
    assert last <= animation.RESULT < animation.LOOP - 2
    assert 10 <= animation.LOOP <= 14
