"""Names, colours, lines and markers: one look for one arm, and no two arms of a page alike."""

import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from setrl.core import methods
from setrl.evaluate.looks import HUES, REGISTRY, label, looks, sweep

WEB = Path(__file__).parents[2] / "web" / "src"
PAGES = [
    ["base", "grpo", "maxpo", "poly_epo"],
    ["step_100", "step_200", "step_300"],
    ["qwen3-4b", "qwen3-8b"],
    ["base", "grpo", "poly_epo", *(f"poly_epo, step {step}" for step in range(0, 500, 100))],
    ["grpo", "ppo", "poly", "poly_epo", "reinforce"],
    ["ppo", *(f"ppo_ent_{i}" for i in range(10)), *(f"poly_n{n}_k4" for n in (8, 16, 32))],
    ["base", *methods.by_name],
    [f"file_{i}" for i in range(60)],
]


@pytest.mark.parametrize("arms", PAGES, ids=lambda arms: f"{arms[0]} and {len(arms) - 1} more")
def test_no_two_arms_of_a_page_look_alike_even_in_grey(arms):
    found = looks(arms)
    for one, other in combinations(arms, 2):
        assert (found[one].dash, found[one].symbol) != (found[other].dash, found[other].symbol)
        assert (found[one].line, found[one].marker) != (found[other].line, found[other].marker)


@pytest.mark.parametrize("arms", PAGES[:5], ids=lambda arms: arms[0])
def test_curves_without_markers_differ_too(arms):
    """By colour and line together, and for up to six arms by the line or the brightness."""
    found = [looks(arms)[arm] for arm in arms]
    assert len({(look.hue, look.dash) for look in found}) == len(arms)
    for one, other in combinations(found[:6], 2):
        assert one.dash != other.dash or abs(grey(one.hue) - grey(other.hue)) > 0.04


def grey(hue):
    """Return the brightness of a colour, from 0 to 1."""
    red, green, blue = (int(hue[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# What a colour becomes: Machado, Oliveira and Fernandes (2009), severity 1, of linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
    "greyscale": ((0.2126, 0.7152, 0.0722),) * 3,
}  # fmt: skip
TO_XYZ = np.array(
    [[0.412456, 0.357576, 0.180438], [0.212673, 0.715152, 0.072175], [0.019334, 0.119192, 0.950304]]
)
SEEN = 5  # of CIE 1976's difference, of which a reader sees about 2


def seen(hue, sight):
    """Return a colour as somebody sees it: its place in CIELAB."""
    coded = np.array([int(hue[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(SIGHTS[sight]) @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_series_look_alike_to_any_reader(sight):
    """Curves with one line differ in colour; so do neighbours in a stack of areas, and "other"."""

    def differ(one, other):
        return np.linalg.norm(seen(one, sight) - seen(other, sight)) > SEEN

    for arms in (page for page in PAGES if len(page) <= 8):
        for one, other in combinations(looks(arms).values(), 2):
            assert one.dash != other.dash or differ(one.hue, other.hue), (one, other)
    fills = REGISTRY["fills"]
    for one, other in [*pairwise(fills), *((fill, REGISTRY["other"]) for fill in fills)]:
        assert differ(one, other), (one, other)


def test_every_method_has_a_label_of_its_own():
    found = looks(list(methods.by_name))
    assert set(methods.by_name) <= set(methods.labels)
    assert len({look.label for look in found.values()}) == len(methods.by_name)
    assert label("poly_epo, step 100") == "Poly-EPO, step 100"


def test_a_method_looks_the_same_whatever_else_is_drawn():
    together = looks(["mine_0.1", "yours", "ppo", *reversed(methods.by_name)])
    assert all(looks([name])[name] == together[name] for name in methods.by_name)
    assert looks(["base"])["base"] == looks(["base", "x", "grpo"])["base"]


def test_arms_of_a_method_share_its_hue_and_other_arms_have_their_own():
    many = looks(["base", "mine", "grpo_kl_0.1", "poly_epo", "maxpo", "grpo_kl_0.01", "grpo"])
    assert many["grpo_kl_0.1"].hue == many["grpo_kl_0.01"].hue
    assert len({look.hue for look in many.values()}) == len({sweep(arm) for arm in many})


def test_the_style_sheet_of_pages_has_the_colours_of_the_registry():
    sheet = (WEB / "style.css").read_text().lower()
    light, dark, *_ = re.findall(r":root \{([^}]*)\}", sheet)
    for name, block in (("light", light), ("dark", dark)):
        given = dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{6})", block))
        for role, colour in REGISTRY["themes"][name].items():
            assert given["line" if role == "grid" else role] == colour.lower(), (name, role)
    given = dict(re.findall(r"--s(\d): (#[0-9a-f]{6})", light))
    assert list(given.values()) == [colour.lower() for colour in REGISTRY["strategies"]]


def test_no_other_source_of_pages_names_a_colour():
    paths = [path for path in WEB.rglob("*") if path.suffix in (".ts", ".tsx", ".css")]
    colour = re.compile(r"#[0-9A-Fa-f]{6}\b")
    named = [path.name for path in paths if colour.search(path.read_text())]
    assert named == ["style.css"]
    assert len(set(HUES.values())) == len(HUES)
