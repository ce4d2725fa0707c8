"""`python -m studies.ledger_mutants`: break every check of the ledger; list what nobody notices.

A mutant is a row whose check, or list of cases, has one comparison, operator or constant changed.
It is found out if the row is no longer confirmed; it is followed if the row is confirmed but its
texts, which are made from the check, say something else, so that tests which compare them with
`docs/claims.md` and `tests/claims/texts.txt` fail; else it survives. Survivors go to
`docs/results/ledger`, by group. Rows whose check has not changed since they were tried are not
tried again; so the run can be stopped at any time.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import signal
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

import claims
from claims.claims import Claim, Finding, Part, Trial, examine, judge

FOLDER = Path("docs/results/ledger")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
GROUPS = {
    "boundary": "`<` for `≤`, or the reverse: no trial lies on the boundary.",
    "case": "A constant of an input (a reward, a strategy, a weight, a range): the check tries as "
    "many other cases, for which the sentence holds, too.",
    "place": "An index: the mutant reads another sample or action, for which the same holds.",
    "evidence": "A number of a case that is only kept as evidence, not compared.",
    "other": "On all cases tried the result is the same (a factor of 0, a name, unused numbers) or "
    "a condition is weaker and holds anyway. Listed below.",
}


@dataclass(frozen=True)
class Mutant:
    """One change of one row.

    Attributes:
        id: The row.
        site: File and line.
        change: The expression before and after.
        group: A name of `GROUPS`.
        row: Makes the changed row.
    """

    id: str
    site: str
    change: str
    group: str
    row: Callable[[], Claim]


def mutants(row: Claim) -> Iterator[Mutant]:
    """Yield every mutant of a row's check and cases."""
    module = sys.modules[row.check.__module__]
    lines, start = inspect.getsourcelines(row.check)
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    ast.increment_lineno(tree, start - 1)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not _is_of_check(node, tree, parents):
            continue
        for changed in _changes(node):
            mutated = _with(tree, node, changed)
            yield Mutant(
                row.id,
                f"claims/{Path(module.__file__ or '').name}:{getattr(node, 'lineno', start)}",
                f"{ast.unparse(node)} → {ast.unparse(changed)}",
                _group(node, changed, parents),
                partial(_mutated_row, row, mutated, vars(module)),
            )


def _is_of_check(node: ast.AST, tree: ast.FunctionDef, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a node is in the body, or in the cases that the decorator lists."""
    while node in parents and parents[node] is not tree:
        if isinstance(node, ast.keyword) and isinstance(parents[node], ast.Call):
            decorator = tree.decorator_list[0]
            if parents[node] is decorator:
                return node.arg == "cases"
        node = parents[node]
    return node in tree.body


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    changed = deepcopy(node)
    match changed:
        case ast.Compare(ops=[first, *rest]) if type(first) in COMPARISONS:
            changed.ops = [COMPARISONS[type(first)](), *rest]
            yield changed
        case ast.BinOp(op=sign) if type(sign) in OPERATORS:
            changed.op = OPERATORS[type(sign)]()
            yield changed
        case ast.BoolOp(op=sign):
            changed.op = ast.Or() if isinstance(sign, ast.And) else ast.And()
            yield changed
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            yield ast.copy_location(ast.Constant(number + 1), node)


def _with(tree: ast.FunctionDef, node: ast.AST, changed: ast.AST) -> ast.FunctionDef:
    """Copy the tree with one node replaced."""

    class Replaced(ast.NodeTransformer):
        def visit(self, at: ast.AST) -> Any:
            return changed if at is marked else super().generic_visit(at)

    place = [one is node for one in ast.walk(tree)].index(True)
    copied = deepcopy(tree)
    marked = list(ast.walk(copied))[place]
    return ast.fix_missing_locations(Replaced().visit(copied))


def _mutated_row(row: Claim, tree: ast.FunctionDef, names: dict[str, Any]) -> Claim:
    (decorator,) = tree.decorator_list
    assert isinstance(decorator, ast.Call)
    cases = [word.value for word in decorator.keywords if word.arg == "cases"]
    tree.decorator_list = []
    future = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)
    code = ast.fix_missing_locations(ast.Module([future, tree], []))
    scope = dict(names)
    exec(compile(code, "mutant", "exec"), scope)
    changed = replace(row, check=scope[tree.name])
    if cases:
        listed = eval(compile(ast.Expression(cases[0]), "cases", "eval"), scope)
        changed = replace(changed, cases=tuple(listed))
    return changed


def _group(node: ast.AST, changed: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return "boundary"
    if not isinstance(node, ast.Constant):
        return "other"
    above = parents[node]
    if isinstance(above, ast.Slice | ast.Subscript):
        return "place"
    while not isinstance(above, ast.stmt):
        if isinstance(above, ast.keyword) and _name(parents[above]) in _PARTS:
            return "evidence"
        if _name(above) in _INPUTS or isinstance(above, ast.comprehension | ast.Tuple | ast.List):
            return "case"
        above = parents[above]
    return "case" if isinstance(above, ast.For) else "other"


_PARTS = {part.value for part in Part}
_INPUTS = {"product", "policy", "policies", "range", "Fraction", "combinations", "zip", "mean"}
_INPUTS |= {"maximum", "polychromic", "distinct_share", "rarest_correct", "majority"}


def _name(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


class _TooLongError(Exception):
    pass


def outcome(mutant: Mutant, before: Finding) -> str:
    """Return whether the mutant is found out, followed by the texts, or survives."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise _TooLongError

    signal.signal(signal.SIGPROF, stop)  # the processor's time: others may use the machine, too
    signal.setitimer(signal.ITIMER_PROF, 3 * before.seconds + 3)
    try:
        after = _judged(mutant.row(), before)
        if after is None or not after.confirmed:
            return "found out"
        return "survives" if _texts(after) == _texts(before) else "followed"
    except Exception:  # an error is noticed, whatever it is
        return "found out"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _judged(row: Claim, before: Finding) -> Finding | None:
    """Judge a row; None as soon as a trial fails in a part in which none did before."""
    found = []
    for one in chain.from_iterable(row.check(*case) for case in row.cases):
        found.append(one)
        if isinstance(one, Trial) and not before.tallies[one.part].failures and not row.held(one):
            return None
    return judge(row, found)


def _texts(finding: Finding) -> tuple[str, ...]:
    row = finding.claim
    return (finding.statement, *map(finding.say, (row.truth, row.kindly, row.how)))


def main(folder: Path = FOLDER, starts: tuple[str, ...] = ()) -> None:
    """Try all mutants that were not tried before, and write what was found."""
    known_at = folder / "mutants.json"
    known: dict[str, dict[str, Any]] = (
        json.loads(known_at.read_text("utf-8")) if known_at.exists() else {}
    )
    rows = [(row, _digest(row)) for row in claims.find(*starts)]
    todo = [(row, digest) for row, digest in rows if known.get(row.id, {}).get("check") != digest]
    folder.mkdir(parents=True, exist_ok=True)
    befores = {row.id: _examined(row) for row, _ in todo}
    costs = {row.id: befores[row.id].seconds * len(list(mutants(row))) + 0.1 for row, _ in todo}
    begun, done, total = time.monotonic(), 0.0, sum(costs.values())
    for row, digest in sorted(todo, key=lambda one: costs[one[0].id]):
        known[row.id] = {"check": digest, **_of_row(row, befores[row.id])}
        known_at.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", "utf-8")
        done += costs[row.id]
        left = (time.monotonic() - begun) * (total / done - 1) / 60
        print(f"{done / total:.0%} done, about {left:.0f} min left: {row.id}", flush=True)
    kept = {row.id: known[row.id] for row, _ in rows if row.id in known}
    (folder / "README.md").write_text(page(kept), "utf-8")


def _digest(row: Claim) -> str:
    """Return a digest of the check and its cases, not of the texts."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(row.check))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    (decorator,) = tree.decorator_list
    assert isinstance(decorator, ast.Call)
    cases = [word.value for word in decorator.keywords if word.arg == "cases"]
    read = [*tree.body[1:], *cases]
    return hashlib.sha256("".join(map(ast.dump, read)).encode()).hexdigest()[:12]


def _examined(row: Claim) -> Finding:
    """Examine a row, in seconds of the processor."""
    start = time.process_time()
    return replace(examine(row), seconds=time.process_time() - start)


def _of_row(row: Claim, before: Finding) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    listed = []
    for mutant in mutants(row):
        found = outcome(mutant, before)
        counts[found] += 1
        if found != "found out":
            listed.append([found, mutant.group, mutant.site, mutant.change])
    return {"counts": dict(counts), "listed": listed}


def page(known: dict[str, dict[str, Any]]) -> str:
    """Write the page of results."""
    counts: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    for row in known.values():
        counts.update(row["counts"])
        groups.update(group for found, group, *_ in row["listed"] if found == "survives")
    lines = [
        "# Mutants of the ledger\n",
        "`python -m studies.ledger_mutants` changes one comparison (`<` and `≤`, `>` and `≥`, `=` "
        "and `≠`), operator (`+` and `−`, `·` and `/`, `and` and `or`) or integer (plus one) in a "
        "check of [the claims](../../claims.md), or in the list of its cases, and runs the check."
        "\n",
        f"Of {sum(counts.values()):,} mutants of {len(known)} of the {len(claims.CLAIMS)} rows, "
        f"{counts['found out']:,} are found out: the row is not confirmed. {counts['followed']:,} "
        "are followed: the row is confirmed, but its texts are made from the check, and tests "
        "compare them with the page and with `tests/claims/texts.txt`. "
        f"{counts['survives']:,} survive, and change no sentence:\n",
        "| group | mutants | why they change no sentence |",
        "|---|---|---|",
        *[f"| {name} | {groups[name]} | {why} |" for name, why in GROUPS.items()],
        "\nHelpers that several rows share are broken by `tests/claims/test_claims.py` instead. "
        "`mutants.json` lists every survivor with its site. The group *other*:\n",
    ]
    for id, row in known.items():
        for found, group, site, change in row["listed"]:
            if (found, group) == ("survives", "other"):
                lines.append(f"- `{id}`, {site}: `{change}`")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(starts=tuple(sys.argv[1:]))
