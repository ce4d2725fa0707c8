"""The check of a domain as text."""

from __future__ import annotations

from setrl.support.wording import percent, table
from setrl.tasks.domains.check import SAMPLES, DomainCheck
from setrl.tasks.visible import escaped

SHOWN = 15  # strategies in the table


def domain_check_text(found: DomainCheck) -> str:
    """Return the examples, the splits and the strategies of a domain."""
    splits = ", ".join(f"{count} of {split}" for split, count in found.splits.items())
    lines = [f"{found.name}: {splits} were drawn, and {SAMPLES:,} samples of the author", ""]
    for prompt, one in found.examples:
        said = "correct" if one.correct else "wrong"
        lines.append(f"  {escaped(prompt)}{escaped(one.text)}   [{said}, {one.strategy}]")
    rows = [["strategy", "share"]]
    rows += [[escaped(name), percent(part)] for name, part in found.strategies.items()]
    lines += ["", table(rows[: SHOWN + 1])]
    if len(rows) > SHOWN + 1:
        lines.append(f"and {len(rows) - SHOWN - 1} strategies more")
    lines.append(
        f"\n{percent(found.correct)} of the author's samples are correct; the longest has "
        f"{found.longest} tokens"
    )
    return "\n".join(lines)
