/** What the page shows as a Python script: a group that prints its credit. */

import { allSets, choose, membersOf, type Sets } from "../maths";
import { drawnSets, samplesOf } from "./results";
import type { Credit } from "./state";

export function pythonOf(state: Credit): string {
  const { rewards, strategies, answers } = samplesOf(state);
  const drawn = drawnSets(state);
  const estimator = drawn ? "listed_sets" : state.scale === "score_std" ? "credit.Enumerated()" : null;
  const how = estimator ? `, estimator=${estimator}` : "";
  return [
    "import numpy as np",
    "",
    `from setrl import Method, ${estimator ? "credit, " : ""}methods, objectives, set_advantages`,
    "",
    `rewards = np.array([[${rewards.join(", ")}]])`,
    "right = rewards > 0.5  # the threshold of this page",
    `strategies = np.array([[${strategies.join(", ")}]])  # 0 is A; -1 is degenerate`,
    `answers = np.array([[${answers.join(", ")}]])  # what majority votes count`,
    "",
    ...(drawn ? [...listedSets(state, drawn.sets, drawn.smaller), ""] : []),
    "compared = {",
    `    "GRPO": methods.grpo(),`,
    `    "Reward shaping": methods.grpo_div(weight=${state.lambda}),`,
    `    "Poly-EPO": methods.poly_epo(set_size=${state.setSize}${drawn ? how : ""}),`,
    `    "MaxPO": methods.maxpo(set_size=${state.setSize}${drawn ? how : ""}),`,
    `    "Concave counts": methods.concave_counts(alpha=${state.alpha}),`,
    `    "Your choice": Method(`,
    `        "chosen",`,
    `        objectives.${state.objective}(),`,
    `        ${state.setSize},`,
    `        baseline="${state.baseline}",`,
    `        reduction="${state.reduction}",`,
    `        scale=${state.scale === "none" ? "None" : `"${state.scale}"`},`,
    ...(estimator ? [`        estimator=${estimator},`] : []),
    "    ),",
    "}",
    "for name, method in compared.items():",
    "    found = set_advantages(rewards, method, correct=right, strategies=strategies, answers=answers)",
    `    print(f"{name:16}", *(f"{value:+.4f}" for value in found.values_BN[0]))`,
    "",
  ].join("\n");
}

/** An estimator that scores the sets of the page, so that both show the same draw. */
function listedSets({ samples, setSize }: Credit, sets: Sets, smaller: Sets | null): string[] {
  const n = samples.length;
  const sizes = [sets, ...(setSize > 1 ? [smaller ?? allSets(n, setSize - 1)] : [])];
  const rows = sizes
    .filter((one) => one.count < choose(n, one.size))
    .map((one) => {
      const lists = Array.from({ length: one.count }, (_, at) => `[${membersOf(one, at).join(", ")}]`);
      return `    ${one.size}: [${lists.join(", ")}],`;
    });
  return [
    "SETS = {  # by their size; all sets of other sizes are scored",
    ...rows,
    "}",
    "",
    "",
    "def listed_sets(objective, samples, set_size, rng):",
    "    if set_size not in SETS:",
    "        return credit.Exact()(objective, samples, set_size, rng)",
    "    sets = np.array(SETS[set_size])",
    "    return credit.Sampled(len(sets)).from_sets(objective, samples, sets)",
    "",
  ];
}
