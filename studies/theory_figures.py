"""The figures of docs/theory.md except the dynamics.

Every number in them is exact: an enumeration, or a closed form of `setrl.theory`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl import objectives
from setrl.show.report.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SKY,
    STRATEGY_FILLS,
    VERMILION,
    axes_grid,
)
from setrl.theory import ActionTable, TabularObjective, entropy, scaffold_values, softmax
from setrl.theory.survival import counts_shares, water_filling
from studies.bonus import bonus_needed
from studies.noise import leave_two_out_edge, quietest_set_size, relative_variance
from studies.summaries import ON_DARK, title

RATES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
GROUP = ActionTable([1, 1, 1, 0], strategies=[0, 0, 1, 2])  # four samples of the first picture
GROUP_NAMES = ("right, factor", "right, factor", "right, graph", "wrong, guess")


def sets_and_marginals() -> Figure:
    """Draw four samples, their six sets of two with scores, and u, v and u − v of each sample."""
    tabular = TabularObjective(objectives.polychromic(), GROUP, set_size=2)
    sets = list(combinations(range(4), 2))
    score = {tuple(s): f for s, f in zip(tabular.sets.sets_SK, tabular.scores_S, strict=True)}
    figure, (left, right) = axes_grid(1, 2, 11, 3.4)
    for column, pair in enumerate(sets):
        left.plot([column, column], pair, color=GREY, linewidth=2, zorder=1)
        for sample in pair:
            hue = STRATEGY_FILLS[int(np.asarray(GROUP.strategies)[sample])]
            left.plot(column, sample, "o", color=hue, markersize=16, zorder=2)
        left.text(column, -0.75, f"{score[pair]:g}", ha="center", fontsize=10)
    left.set_yticks(range(4), [f"y{i + 1}: {name}" for i, name in enumerate(GROUP_NAMES)])
    left.set(xlim=(-0.6, 5.6), ylim=(3.6, -1.1), xticks=[])
    title(left, "four samples, their six sets of two, and f of each", "")
    with_, without = (
        [np.mean([score[s] for s in sets if (i in s) is held]) for i in range(4)]
        for held in (True, False)
    )
    for i, (u, v) in enumerate(zip(with_, without, strict=True)):
        right.annotate("", (u, i), (v, i), arrowprops={"arrowstyle": "->", "color": GREY})
        gap = f"{u - v:+.2f}".replace("-", "−") if abs(u - v) > 1e-9 else "0"
        right.text(max(u, v) + 0.025, i, f"u − v = {gap}", va="center", fontsize=9)
    [ring] = right.plot(without, range(4), "o", label="v: mean f of the sets without it")
    ring.set(color=ORANGE, markersize=11, markerfacecolor="none")
    right.plot(with_, range(4), "o", color=BLUE, label="u: mean f of the sets with it")
    right.set(ylim=(3.6, -1.1), xlim=(0.3, 1.1), yticks=range(4))
    right.set_yticklabels([f"y{i + 1}" for i in range(4)])
    right.legend(frameon=False, fontsize=8.5, loc="upper right", ncols=2)
    title(right, "the marginal credit of each sample", "mean score of sets")
    return figure


def noise_of_set_sizes() -> Figure:
    """Draw relative variance over the success rate for several K, and the K with the least."""
    figure, (left, right) = axes_grid(1, 2, 10, 3.6)
    grid = np.linspace(0.01, 0.7, 140)
    for size, hue in zip((1, 2, 4, 8), (GREY, ORANGE, BLUE, GREEN), strict=True):
        left.plot(
            grid, [relative_variance(p, 32, size) for p in grid], color=hue, label=f"K = {size}"
        )
        left.axvline(1 / (size + 1), color=hue, linewidth=0.8, linestyle=":")
    left.set(yscale="log", ylim=(3e-3, 30))
    left.legend(frameon=False, fontsize=9)
    title(left, "relative variance of pass@K, N = 32 (dots: p = 1/(K+1))", "success rate p")
    few = np.linspace(0.02, 0.6, 80)
    right.plot(few, 1 / few - 1, color=GREY, label="1/p − 1")
    for num, hue in ((8, SKY), (16, ORANGE), (32, BLUE), (64, GREEN)):
        right.step(few, [quietest_set_size(p, num) for p in few], color=hue, label=f"N = {num}")
    right.set(yscale="log", ylim=(0.8, 60))
    right.legend(frameon=False, fontsize=9)
    title(right, "the K with the least noise", "success rate p")
    return figure


def leave_two_out_boundary() -> Figure:
    """Draw the success rate below which leave-two-out pays, for two actions."""
    figure, (ax,) = axes_grid(1, 1, 5.6, 3.4)
    for num, hue in ((6, SKY), (8, PINK), (16, ORANGE), (32, BLUE)):
        sizes = range(1, num)
        edges = [leave_two_out_edge(num, size) for size in sizes]
        ax.plot(
            [k / num for k in sizes], edges, "o-", markersize=3.5, color=hue, label=f"N = {num}"
        )
    ax.axvline(0.5, color=GREY, linestyle=":")
    ax.legend(frameon=False, fontsize=9)
    ax.set_ylabel("success rate p")
    title(ax, "u − v has less variance than u − w below the line", "K / N")
    return figure


def shares_and_price() -> Figure:
    """Draw best shares over α of the mixture and of concave counts, and pass@1 of both."""
    figure, axes = axes_grid(1, 3, 12, 3.5)
    weights = np.linspace(0.02, 1, 99)
    alphas = np.linspace(0, 0.97, 50)
    polychromic = np.array([water_filling(RATES, a) for a in weights])
    counts = np.array([counts_shares(RATES, 16, a) for a in alphas])
    _stack(axes[0], weights, polychromic)
    title(axes[0], "(1−α)·mean + α·polychromic, K = 2", "α")
    _stack(axes[1], alphas, counts)
    title(axes[1], "concave counts, N = 16", "α")
    for shares, hue, name in (
        (polychromic, BLUE, "polychromic mixture"),
        (counts, GREEN, "concave counts"),
    ):
        effective = np.exp(entropy(shares / shares.sum(axis=1, keepdims=True)))
        axes[2].plot(effective, shares @ np.array(RATES), color=hue, label=name)
    heat = [softmax(np.array(RATES) / t) for t in np.geomspace(0.01, 10, 100)]
    axes[2].plot(
        [np.exp(entropy(q)) for q in heat],
        [q @ np.array(RATES) for q in heat],
        color=GREY,
        linestyle=":",
        label="the most that is possible",
    )
    axes[2].legend(frameon=False, fontsize=9)
    axes[2].set_ylabel("pass@1")
    title(axes[2], "the price of many strategies", "effective number of strategies")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _stack(ax: Axes, x: np.ndarray, shares: np.ndarray) -> None:
    names = [f"right {rate:.0%}" for rate in RATES]
    ax.stackplot(x, shares.T, labels=names, colors=STRATEGY_FILLS, edgecolor="white", linewidth=0.4)
    ax.set(xlim=(x[0], x[-1]), ylim=(0, 1), ylabel="share")


def shaping_threshold() -> Figure:
    """Draw the bonus that a wrong, rare, new strategy needs, against the tutorial's p/(d − d̄)."""
    figure, (ax,) = axes_grid(1, 1, 6, 3.5)
    grid, rare = np.linspace(0.02, 0.98, 49), 1e-6
    one = ActionTable([1, 0, 0], strategies=[0, 0, 1])
    five = ActionTable([1] * 5 + [0, 0], strategies=[0, 1, 2, 3, 4, 0, 5])
    beside_one = [bonus_needed(one, [p, 1 - p - rare, rare], 2, 8) for p in grid]
    beside_five = [bonus_needed(five, [p / 5] * 5 + [1 - p - rare, rare], 6, 8) for p in grid]
    ax.plot(grid, beside_five, color=VERMILION, label="with five right strategies")
    ax.plot(grid, beside_one, color=BLUE, label="with one right strategy")
    ax.plot(
        grid, grid / (1 - 1 / 8), color=GREY, linestyle=":", label="p/(d − d̄) with d = 1, d̄ = 1/8"
    )
    ax.legend(frameon=False, fontsize=9)
    ax.set_ylabel("λ needed")
    title(ax, "reward shaping encourages the sample above the line, N = 8", "success rate p")
    return figure


def set_value_of_a_tree() -> Figure:
    """Draw the set value of a state: two actions at each state, three levels, one policy."""
    figure, (ax,) = axes_grid(1, 1, 7, 3.4)
    depth, gamma, places = 3, 0.3, {}
    for level in range(depth + 1):
        for node in range(2**level):
            places[level, node] = ((node + 0.5) / 2**level, -level)
    for level, node in places:
        if level < depth:
            for child in (2 * node, 2 * node + 1):
                inside = _below((level, node), (1, 1))
                ends = zip(places[level, node], places[level + 1, child], strict=True)
                ax.plot(
                    *ends, color=BLUE if inside else GREY, linewidth=2.4 if inside else 1, zorder=1
                )
    for (level, node), (x, y) in places.items():
        inside = _below((level, node), (1, 1))
        ax.plot(x, y, "o", color=BLUE if inside else GREY, markersize=17, zorder=2)
        text = f"{tree_value(level, node, depth, gamma):.2f}"
        ax.text(x, y, text, ha="center", va="center", color=ON_DARK, fontsize=7.5, zorder=3)
        ax.text(x + 0.026, y + 0.16, f"{state_score(level, node):g}", fontsize=8, color=BLACK)
    ax.plot(*places[1, 1], "o", markersize=24, markerfacecolor="none", color=VERMILION)
    ax.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(-depth - 0.4, 0.45))
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    title(ax, f"V♯ (inside) = f (above) + γ·(V♯ of both next states), γ = {gamma}", "")
    return figure


def state_score(level: int, node: int) -> float:
    """f of a state of the picture: the share of its two actions that go right, by a fixed rule."""
    return ((3 * node + level) % 4 > 0) / 2 + ((node + 2 * level) % 3 > 0) / 2


def tree_value(level: int, node: int, depth: int, gamma: float) -> float:
    """Return the discounted sum of f over the subtree: Definition 2.1 for deterministic moves."""
    if level == depth:
        return state_score(level, node)
    children = (tree_value(level + 1, child, depth, gamma) for child in (2 * node, 2 * node + 1))
    return state_score(level, node) + gamma * sum(children)


def _below(place: tuple[int, int], root: tuple[int, int]) -> bool:
    levels = place[0] - root[0]
    return levels >= 0 and place[1] >> levels == root[1]


def scaffold_of_a_set() -> Figure:
    """Draw the mean score of other sets by their overlap with a set, and the scaffold value."""
    figure, axes = axes_grid(1, 2, 10, 3.4)
    table = ActionTable([1, 1, 0], strategies=[0, 1, 2])
    policy = np.array([0.7, 0.15, 0.15])
    tabular = TabularObjective(objectives.polychromic(), table, set_size=3)
    chances = tabular.sets.chances(policy)
    for ax, members, name in (
        (axes[0], (0, 0, 0), "three times the common right action"),
        (axes[1], (0, 1, 1), "both right actions"),
    ):
        counts = np.bincount(members, minlength=3)
        overlap = (tabular.sets.counts_SA * counts).sum(axis=1)
        value = scaffold_values(tabular, policy, np.array([members]))[0]
        levels = np.unique(overlap)
        mass = np.array([chances[overlap == o].sum() for o in levels])
        means = np.array([chances[overlap == o] @ tabular.scores_S[overlap == o] for o in levels])
        ax.scatter(levels, means / mass, s=900 * mass + 8, color=BLUE, alpha=0.8)
        ax.axhline(float(tabular.value(policy)), color=GREY, linestyle=":")
        ax.set_ylabel("mean f of the sets that overlap so")
        ax.margins(0.12)
        title(ax, f"{name}: Λ = {value:+.3f}", "overlap with the set, Σᵢⱼ 1{y'ᵢ = yⱼ}")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "sets": sets_and_marginals,
    "set_size": noise_of_set_sizes,
    "leave_two_out": leave_two_out_boundary,
    "shares": shares_and_price,
    "shaping": shaping_threshold,
    "tree": set_value_of_a_tree,
    "scaffold": scaffold_of_a_set,
}
