"""`python -m tests.audit.table`: audit the planted estimators, and write their table in the guide.

Groups have 4 samples. The gradient is simulated in batches of the size that the audit names: the
group stands at any place, and the other groups come from policies that are uniform.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from setrl.support.wording import markdown_table
from setrl.theory.audit import Audit, audit
from setrl.theory.audit.field import Field
from tests.audit.planted import PLANTED, reads_labels

GUIDE = Path(__file__).parents[2] / "docs/results/estimators/planted.md"
N, RATES, DRAWS = 4, (0.2, 0.5, 0.8), 4_000


def simulated(function: Callable, found: Audit, policy_A: np.ndarray) -> tuple[float, float]:
    """Return the mean update towards right samples, and its standard error."""
    rng, table = np.random.default_rng(1), found.table
    rewards, num = np.asarray(table.rewards), len(policy_A)
    groups = found.in_batch.num_groups if found.in_batch else 1
    places = rng.integers(groups, size=DRAWS)
    policies = rng.dirichlet(np.ones(num), (DRAWS, groups))
    policies[np.arange(DRAWS), places] = policy_A
    chosen = rng.random((DRAWS, groups, N, 1)) > policies.cumsum(axis=2)[:, :, None, :-1]
    updates = []
    for batch, place in zip(chosen.sum(axis=3), places, strict=True):
        labels = [] if table.strategies is None else [np.asarray(table.strategies)[batch]]
        values = np.nan_to_num(function(rewards[batch], *labels))[place]
        updates.append(values @ ((rewards[batch[place]] == 1) - policy_A @ rewards))
    return float(np.mean(updates)), float(np.std(updates, ddof=1) / np.sqrt(DRAWS))


def apart(function: Callable, found: Audit) -> float:
    """Return the largest distance of audit and simulation, in standard errors of both."""
    rewards = np.asarray(found.table.rewards)
    right = rewards / rewards.sum()
    policies = np.array([p * right + (1 - p) * right[::-1] for p in RATES])
    batch = found.in_batch
    audited = Field(batch.paid if batch else found.paid, policies).values_PA @ rewards
    noise = batch.noise * np.linalg.norm(audited) if batch else 0.0
    each = [simulated(function, found, policy) for policy in policies]
    errors = np.hypot([error for _, error in each], noise)
    return float((np.abs(audited - [mean for mean, _ in each]) / np.maximum(errors, 1e-9)).max())


def row(function: Callable) -> list[str]:
    """Return what the audit says of an estimator, and how far the simulation is from it."""
    labels = 2 if reads_labels(function) else 1
    try:
        found = audit(function, group_size=N, labels=labels, takes="batch")
    except ValueError as error:
        return [function.__name__, f"refused: {error}", "", ""]
    batch = found.in_batch
    near = f"{found.nearest}, " + ("exactly" if found.objective else f"{found.bias:.1%} off")
    says = str(batch).partition(" (")[0].partition(", which")[0] if batch else near
    how = (
        "1"
        if batch is None
        else f"{batch.num_groups}, drawn"
        if batch.draws
        else f"{batch.num_groups}"
    )
    return [f"`{function.__name__}`", says, how, f"{apart(function, found):.1f}"]


def main() -> None:
    """Write the block of the guide."""
    head = [
        "estimator",
        "its mean update, as the audit says",
        "groups of a batch",
        "standard errors",
    ]
    rows = []
    for function in PLANTED:
        rows.append(row(function))
        print(*rows[-1], flush=True)
    block = markdown_table(head, rows)
    page = GUIDE.read_text(encoding="utf-8")
    start, _, rest = page.partition("<!-- planted -->\n")
    _, end, tail = rest.partition("<!-- end -->")
    GUIDE.write_text(f"{start}<!-- planted -->\n{block}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
