/** What the page shows as a Python script: a group that prints its credit, a formula that is audited. */

import { allSets, choose, EPSILON, type Formula, membersOf, type Sets } from "../maths";
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

/** Function of a formula → its definition in Python, where it is not NumPy's. */
const DEFINED: Readonly<Record<string, string>> = {
  mean: "lambda x: np.mean(x)",
  sum: "lambda x: np.sum(np.broadcast_to(x, r.shape))",
  std: "lambda x: np.std(np.broadcast_to(x, r.shape), ddof=1)",
  pstd: "lambda x: np.std(x)",
  max: "lambda *x: np.max(x[0]) if len(x) == 1 else functools.reduce(np.maximum, x)",
  min: "lambda *x: np.min(x[0]) if len(x) == 1 else functools.reduce(np.minimum, x)",
  nth: "lambda x, k: np.sort(np.broadcast_to(x, r.shape))[-int(k)]",
  centred: "lambda x: x - np.mean(x)",
  choose: "np.vectorize(lambda n, k: math.comb(int(n), int(k)) if n >= k >= 0 else 0, otypes=[float])",
};

/** A formula as a function that `setrl.theory.audit` takes, and its audit. */
export function pythonOfFormula({ text, uses, readsLabels }: Formula, size: number): string {
  const names = [...uses].sort();
  const functions = names.filter((name) => name in DEFINED);
  const imports = [
    ...(functions.some((name) => name === "max" || name === "min") ? ["import functools"] : []),
    ...(functions.includes("choose") ? ["import math"] : []),
  ];
  const ofNumPy = names.filter((name) => ["abs", "sqrt", "exp", "log", "where"].includes(name));
  const bound: Readonly<Record<string, string>> = {
    N: "float(len(r))",
    eps: String(EPSILON),
    size: "(strategies[:, None] == strategies).sum(axis=1) * 1.0",
    m: "(strategies[:, None] == strategies) @ (1.0 * (r > 0.5))",
  };
  return [
    ...imports,
    ...(imports.length > 0 ? [""] : []),
    "import numpy as np",
    "",
    "from setrl.theory.audit import audit",
    "",
    "",
    `def estimator(rewards${readsLabels ? ", strategies" : ""}):`,
    "    r = np.asarray(rewards, dtype=float)",
    ...names.filter((name) => name in bound).map((name) => `    ${name} = ${bound[name]}`),
    ...ofNumPy.map((name) => `    ${name} = np.${name}`),
    ...functions.map((name) => `    ${name} = ${DEFINED[name]}`),
    '    with np.errstate(all="ignore"):',
    `        return np.broadcast_to(${text}, r.shape)`,
    "",
    "",
    `found = audit(estimator, group_size=${size}, takes="group")`,
    "print(found)",
    "",
  ].join("\n");
}
