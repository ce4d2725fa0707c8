"""Audit every row of estimators.yaml: what the page shows, as plain values."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from setrl import __version__
from setrl.core.method import Method
from setrl.support import files
from setrl.support.files.progress import progress_bar
from setrl.theory.audit import Audit, audit
from setrl.theory.audit.batches import Batched
from setrl.theory.audit.compare import Match
from setrl.theory.audit.variance import Variance
from studies.estimators.registry import Ready, Row, rows

SIZE = 4  # N of the table
SIZES = (2, 3, SIZE, 8)  # of the search for the smallest counterexample, and of the bias
GRADED = (0.0, 0.5, 1.0)  # rewards of the second table
DIGITS = 4


def run(sources: Path, folder: Path, only: str = "", show_progress: bool = True) -> Path:
    """Audit all estimators, and write estimators.json.

    Args:
        sources: A folder with the source of each package, in a folder NAME-VERSION.
        folder: Where the result goes.
        only: A package: audit only its estimators, and keep the others of the file.
        show_progress: Whether to show a bar.

    Raises:
        DataError: If a package is not there, or a function of it is not.
    """
    path = folder / "estimators.json"
    kept = {one["package"]: one for one in files.read_json(path).get("packages", ())}
    chosen = [row for row in rows() if only in ("", row.release.name)]
    found: dict[str, dict[str, Any]] = {}
    for row in progress_bar(show_progress, iterable=chosen, desc="estimators"):
        release = row.release
        about = {"package": release.name, "title": release.title, "version": release.version}
        if release.is_ours:
            about["version"] = __version__
        package = found.setdefault(release.name, {**about, "home": release.home, "rows": []})
        package["rows"].append(examine(row, row.load(sources)))
    names = dict.fromkeys(row.release.name for row in rows())
    packages = [{**kept, **found}[name] for name in names if name in {**kept, **found}]
    files.write_json(path, {"schema_version": 1, "group_size": SIZE, "packages": packages})
    return path


def examine(row: Row, ready: Ready) -> dict[str, Any]:
    """Return what the page shows of an estimator."""
    audits = _audits(row, ready, claims=False)
    claimed = _audits(row, ready, claims=True) if row.claims else audits
    found = audits[SIZE]
    return {
        "name": row.name,
        "path": ready.path,
        "line": ready.line,
        "sha256": ready.sha256,
        "says": ready.says,
        "note": row.note,
        "claims": row.claims.replace("{", "").replace("}", ""),
        "is": None if found.objective is None else str(found.objective),
        "nearest": _match(found.nearest),
        "made": None if found.made is None else str(found.made),
        "claim": _match(claimed[SIZE].claim) if row.claims else None,
        "off": {str(size): _rounded(one.bias) for size, one in audits.items()},
        "counterexample": _counterexample(claimed),
        "paid": _paid(found),
        "variance": _variance(found.variance),
        "squares": squares(found),
        "broken": {law.name: law.says for law in found.laws if law.holds is False},
        "survivors": {"kept": found.survivors.kept, "of": len(found.survivors.shares)},
        "in_batch": None if found.in_batch is None else _batch(found.in_batch),
        "graded": _graded(row, ready),
    }


def _batch(found: Batched) -> dict[str, Any]:
    values = found.to_json()
    numbers = {name: _rounded(values[name]) for name in ("off", "noise", "all_wrong")}
    return {**values, **numbers}


def _graded(row: Row, ready: Ready) -> dict[str, Any] | None:
    """Return what it is with rewards 0, ½ and 1; None if it takes only 0 and 1."""
    try:
        found = _audit(row, ready, SIZE, None, GRADED)
    except ValueError:
        return None
    if found is None:
        return None
    has_objective = found.estimator.is_steady and found.curl is None
    return {**(_match(found.nearest) or {"is": None}), "has_objective": has_objective}


def _audits(row: Row, ready: Ready, claims: bool) -> dict[int, Audit]:
    each = {size: _audit(row, ready, size, row.claim(size) if claims else None) for size in SIZES}
    return {size: found for size, found in each.items() if found is not None}


def _audit(
    row: Row, ready: Ready, size: int, claim: str | None, rewards: Sequence[float] = (0.0, 1.0)
) -> Audit | None:
    """Audit the estimator; None if it, or its claim, has no groups of this size."""
    labels = None if ready.shape is None else 1
    try:
        with redirect_stdout(io.StringIO()):
            return audit(ready.function, group_size=size, labels=labels, claims=claim,
                         shape=ready.shape, name=row.name, rewards=rewards)  # fmt: skip
    except ValueError:
        if size == SIZE:
            raise
        return None


def _paid(found: Audit) -> dict[str, list[float]] | None:
    """Return the advantages of right and of wrong samples, by right samples of the group."""
    if found.paid.table.num_actions > 2 or not found.paid.is_symmetric:
        return None
    right = int(np.argmax(found.paid.table.rewards))
    order = np.argsort(found.paid.groups.counts_SA[:, right])
    columns = {"right": right, "wrong": 1 - right}
    return {
        name: [_rounded(one) for one in found.paid.credit_SA[order, at]]
        for name, at in columns.items()
    }


def _variance(found: Variance) -> dict[str, Any]:
    numbers = {"ratio": found.ratio, "over_least": found.over_least}
    return {"beside": found.beside, **{name: _rounded(one) for name, one in numbers.items()}}


def _match(match: Match | None) -> dict[str, Any] | None:
    if match is None:
        return None
    return {"is": str(match), "off": _rounded(match.off), "holds": match.holds}


def _counterexample(audits: Mapping[int, Audit]) -> dict[str, Any] | None:
    """Return the smallest group on which an estimator leaves its claim, or what is nearest."""
    for size, found in sorted(audits.items()):
        match = found.claim or found.nearest
        if match is not None and not match.holds and match.example is not None:
            example = asdict(match.example)
            numbers = {name: _rounded(example[name]) for name in ("paid", "needed")}
            return {"size": size, "against": str(match), **_members(found, example), **numbers}
    return None


def _members(found: Audit, example: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rewards and the labels of the samples of an example."""
    table = found.paid.table
    labels = None if table.strategies is None else np.asarray(table.strategies).tolist()
    rewards = np.asarray(table.rewards).tolist()

    def of(actions: Any) -> list[Any]:
        return [rewards[at] if labels is None else [rewards[at], labels[at]] for at in actions]

    return {"others": of(example["others"]), "pair": of(example["pair"])}


def squares(found: Audit) -> float | None:
    """Return the mean Σᵢ Aᵢ² ÷ the mean of an unbiased credit with the same gradient.

    It is the ratio of the variances where scores of different samples are nearly orthogonal, as
    scores of different texts are; the variance over two or six actions counts samples as equal.
    """
    match = found.nearest
    if match is None or len(match.parts) != 1:
        return None
    paid, known = found.paid, match.parts[0]
    baseline = "leave_one_out" if known.set_size < paid.num_samples else "smaller_sets"
    method = Method("beside", known.objective, known.set_size, baseline)
    credit = paid.table.credit(method, paid.groups_RN, np.random.default_rng(0)).values_BN
    scale = match.factors[0] * known.set_size / paid.num_samples
    chances_PR = _chances(found)
    own, other = (float((chances_PR @ (values**2).sum(axis=1)).mean())
                  for values in (paid.values_RN, scale * np.asarray(credit)))  # fmt: skip
    return _rounded(own / other) if other else None


def _chances(found: Audit) -> np.ndarray:
    """Return the chance of each row of groups under each policy of the audit."""
    log_PA = np.log(found.gradient.policies_PA)
    return np.exp(log_PA @ found.paid.counts_RA.T) * found.paid.weight_R


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
