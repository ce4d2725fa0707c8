import numpy as np

from setrl import Method, credit, methods, objectives, set_advantages

rewards = np.array([[1, 1, 0, 0, 1, 0, 1, 0]])
right = rewards > 0.5  # the threshold of this page
strategies = np.array([[0, 1, 2, 0, 3, -1, 0, 1]])  # 0 is A; -1 is degenerate
answers = np.array([[0, 0, 4, 2, 0, 1, 0, 3]])  # what majority votes count

SETS = {  # by their size; all sets of other sizes are scored
    3: [[3, 6, 7], [3, 4, 6], [0, 4, 7], [1, 2, 7], [2, 5, 7], [1, 2, 3], [0, 3, 5], [0, 1, 7], [1, 6, 7], [0, 2, 7], [4, 5, 7], [1, 4, 6]],
    2: [[3, 7], [0, 4], [1, 2], [2, 7], [0, 3], [0, 1], [5, 7], [0, 5], [4, 5], [2, 4], [0, 7], [1, 5]],
}


def listed_sets(objective, samples, set_size, rng):
    if set_size not in SETS:
        return credit.Exact()(objective, samples, set_size, rng)
    sets = np.array(SETS[set_size])
    return credit.Sampled(len(sets)).from_sets(objective, samples, sets)


compared = {
    "GRPO": methods.grpo(),
    "Reward shaping": methods.grpo_div(weight=1.5),
    "Poly-EPO": methods.poly_epo(set_size=3, estimator=listed_sets),
    "MaxPO": methods.maxpo(set_size=3, estimator=listed_sets),
    "Concave counts": methods.concave_counts(alpha=0.25),
    "Your choice": Method(
        "chosen",
        objectives.any_correct(),
        3,
        baseline="smaller_sets",
        reduction="mean",
        scale="group_std",
        estimator=listed_sets,
    ),
}
for name, method in compared.items():
    found = set_advantages(rewards, method, correct=right, strategies=strategies, answers=answers)
    print(f"{name:16}", *(f"{value:+.4f}" for value in found.values_BN[0]))
