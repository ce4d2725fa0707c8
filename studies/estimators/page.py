"""Write the blocks of docs/estimators.md from estimators.json."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from setrl.support import files
from setrl.support.errors import DataError
from setrl.support.wording import MISSING, markdown_table, percent
from setrl.theory.audit.compare import share
from studies.estimators.registry import LEFT_OUT

UNUSUAL = {
    "zero-sum": "not centred",
    "silent-if-all-wrong": "all-wrong groups",
    "silent-if-all-right": "all-right groups",
    "no-pay-for-wrong": "wrong samples",
    "finite": "not finite",
    "deterministic": "chance",
    "permutation-invariant": "the order",
    "independent-groups": "the batch",
    "leaves-input": "edits its input",
    "rows-in-any-order": "the order of rows",
}
BESIDE = ("u − v", "u − w")
WIDTH = 120  # characters of a line of the page
FOUR = 4  # samples of a group in these tables
NOTHING = 1e-3  # an advantage that is 0 except for float32 and small numbers in divisors
COLUMNS = (
    "it is", "off", "variance", "pays, depends on", "keeps", "rewards 0, ½, 1", "estimators",
)  # fmt: skip
Values = Mapping[str, Any]
Pattern = tuple[tuple[float, float], ...]


def write(result: Path, path: Path) -> Path:
    """Write the blocks of the page from a result.

    Raises:
        DataError: If the page lacks a block.
    """
    page = path.read_text(encoding="utf-8")
    for name, block in written(files.read_json(result)["packages"]).items():
        head, start, rest = page.partition(f"<!-- {name} -->\n")
        _, end, tail = rest.partition("<!-- end -->")
        if not end:
            raise DataError(f"{path} has no block from <!-- {name} --> to <!-- end -->")
        page = f"{head}{start}{block}\n{end}{tail}"
    files.write_text(path, page)
    return path


def written(packages: Sequence[Values]) -> dict[str, str]:
    """Return the blocks of the page: name → Markdown."""
    return {
        "summary": _bullets(_summary(packages)),
        "table": _table(packages),
        "packages": _paragraph(", ".join(map(_package, packages)) + "."),
        "differences": _bullets(_differences(packages)),
        "batches": _batches(packages),
        "left out": _bullets(f"{what}: {why}." for what, why in LEFT_OUT.items()),
    }


def _bullets(lines: Iterator[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _paragraph(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _rows(packages: Sequence[Values]) -> Iterator[tuple[Values, Values]]:
    return ((package, row) for package in packages for row in package["rows"])


def _summary(packages: Sequence[Values]) -> Iterator[str]:
    others = [row for package, row in _rows(packages) if package["package"] != "setrl"]
    claims = [row for row in others if row["claims"]]
    kept = [row for row in claims if row["claim"]["holds"]]
    batch = [row for row in others if "the batch" in _unusual(row)]
    yield (
        f"{sum(bool(row['is']) for row in others)} of {len(others)} estimators of other libraries "
        "are exactly the gradient of an objective, or of a sum of two."
    )
    yield (
        f"{len(claims)} are documented for an objective; {len(kept)} of these are unbiased for it. "
        "The others are [below](#differences-from-the-documentation)."
    )
    yield (
        f"{len(batch)} depend on the other groups of their batch; [what they are in batches of "
        f"{batch[0]['in_batch']['groups']}](#in-a-batch-of-several-groups)."
    )
    together = sum("rows-in-any-order" in row["broken"] for row in others)
    yield (
        f"{together} take rows that follow one another for a group, although an argument names the "
        "group of each row ([when this matters](#in-a-batch-of-several-groups))."
    )
    graded = [row["graded"] for row in others if row["graded"]]
    exact = sum(bool(one.get("holds")) for one in graded)
    none = sum(not one["has_objective"] for one in graded)
    yield (
        f"With rewards 0, ½ and 1, {exact} of {len(graded)} are exactly a gradient that we know, "
        f"and {none} are [the gradient of no objective at all](audit.md#the-test)."
    )
    alike = max(_patterns(packages).values(), key=len)
    off = next(row["off"] for package, row in _rows(packages) if _name(package, row) == alike[0])
    shares = (f"{_share(one)} in groups of {size}" for size, one in off.items())
    yield (
        f"{len(alike)} pay the same as GRPO, but for a factor, because they divide by a standard "
        f"deviation. They are near ∇pass@1; off by {', '.join(shares)}."
    )


def _table(packages: Sequence[Values]) -> str:
    """Return a table of what the estimators are; equal ones share a row, and only ours is last."""
    found = defaultdict(list)
    for package, row in _rows(packages):
        found[tuple(_cells(row))].append((package, row))
    ours = [key for key, members in found.items() if members[0][0]["package"] == "setrl"]
    order = sorted(found, key=lambda key: (key in ours, -len(found[key])))
    return markdown_table(COLUMNS, [[*key, _names(found[key])] for key in order])


def _cells(row: Values) -> list[str]:
    off = list(row["off"].values())
    return [
        _is(row),
        ", ".join(map(_share, off)) if any(off) else "0",
        _ratio(row["variance"]["ratio"] if row["variance"]["beside"] in BESIDE else None),
        "; ".join(_unusual(row)),
        str(row["survivors"]["kept"]),
        _with_graded(row["graded"]),
    ]


def _names(members: Sequence[tuple[Values, Values]]) -> str:
    """List estimators by their packages."""
    found = defaultdict(list)
    for package, row in members:
        found[package["title"]].append(row["name"])
    return "<br>".join(f"{title}: {'; '.join(names)}" for title, names in found.items())


def _package(package: Values) -> str:
    version, home = package["version"], package["home"]
    short = version[:12] if home else version
    shown = f"[{short}]({home}/tree/{version})" if home else short
    return f"{package['title']} {shown}"


def _place(package: Values, row: Values) -> str:
    path, line = row["path"], row["line"]
    place = f"{Path(path).name}:{line}"
    if package["package"] == "setrl":
        return f"[{place}](../{path})"
    address = f"{package['home']}/blob/{package['version']}/{path}#L{line}"
    return f"[{place}]({address})" if package["home"] else f"`{place}`"


def _is(row: Values) -> str:
    if row["nearest"] is None:
        return "0: it optimises nothing"
    return row["is"] or f"near {row['nearest']['is']}"


def _share(off: float | None) -> str:
    if off is None:
        return MISSING
    return percent(off) if off else "0"


def _ratio(ratio: float | None) -> str:
    return MISSING if ratio is None else f"{ratio:.2f}"


def _unusual(row: Values) -> list[str]:
    return [words for law, words in UNUSUAL.items() if law in row["broken"]]


def _differences(packages: Sequence[Values]) -> Iterator[str]:
    for package, row in _rows(packages):
        note = [f"{row['note'][0].upper()}{row['note'][1:]}."] if row["note"] else []
        if parts := [*_broken_claim(row), *note]:
            yield f"**{_name(package, row)}**, {_place(package, row)}. {' '.join(parts)}"


def _broken_claim(row: Values) -> Iterator[str]:
    if not row["claims"] or row["claim"]["holds"]:
        return
    shown, claim = (
        row["counterexample"],
        re.sub(r"maxrl@(\S+)", r"Σ pass@k/k for k ≤ \1", row["claims"]),
    )
    found = f"; it is {row['is']}" if row["is"] else ""
    yield f"It is documented for {claim}, and {_share(row['claim']['off'])} off{found}."
    first, second = map(_sample, shown["pair"])
    beside = ", ".join(map(_sample, shown["others"]))
    yield (
        f"In groups of {shown['size']}, beside {beside}, {first} is paid {shown['paid']:g} more "
        f"than {second}; {shown['against']} needs {shown['needed']:g}."
    )


def _sample(one: float) -> str:
    return "a right sample" if one else "a wrong sample"


def _name(package: Values, row: Values) -> str:
    return f"{package['title']}, {row['name']}"


def _batches(packages: Sequence[Values]) -> str:
    """Return a table of the estimators that depend on their batch, equal ones together."""
    found = defaultdict(list)
    for package, row in _rows(packages):
        if batch := row["in_batch"]:
            ends = [(_field(row["nearest"]["is"]), row["off"][str(FOUR)]),
                    (_field(batch["nearest"]), batch["off"])]  # fmt: skip
            shown = (
                f"{name}, {share(off)} off" if off else f"{name}, exactly" for name, off in ends
            )
            paid = f"{batch['all_wrong']:.2f}".replace("-", "−")
            wrong = paid if abs(batch["all_wrong"]) > NOTHING else ""
            found[(*shown, wrong)].append((package, row))
    head = ["alone in its batch", "in a batch of 8", "all-wrong groups get", "estimators"]
    return markdown_table(head, [[*key, _names(members)] for key, members in found.items()])


def _field(gradient: str) -> str:
    """Return a gradient without its factor."""
    return "∇" + gradient.partition("∇")[2]


def _with_graded(graded: Values | None) -> str:
    """Return what an estimator is with a third reward, without its factor."""
    if graded is None:
        return "needs 0 and 1"
    if graded["holds"]:
        return _field(graded["is"])
    return "unnamed" if graded["has_objective"] else "none"


def _patterns(packages: Sequence[Values]) -> dict[Pattern, list[str]]:
    """Return what is paid without its scale → the estimators."""
    found = defaultdict(list)
    for package, row in _rows(packages):
        pairs = list(zip(*row["paid"].values(), strict=True)) if row["paid"] else []
        if largest := max((abs(one) for pair in pairs for one in pair), default=0):
            pattern = tuple((round(a / largest, 2), round(b / largest, 2)) for a, b in pairs)
            found[pattern].append(_name(package, row))
    return found
