/** In words: why a sample got its credit. Every number comes from the server. */

import type { Group } from "./api";

export const same = (one: number | null | undefined, other: number | null | undefined): boolean =>
  one != null && other != null && Math.abs(one - other) <= 1e-5 * Math.max(1e-3, Math.abs(one), Math.abs(other));

/** The methods whose advantages are those that entered the loss: none, one, or several that agree here. */
export function methodsInLoss(group: Group): readonly string[] {
  const used = group.samples.map((sample) => sample.advantage);
  return Object.keys(group.others).filter((name) => used.every((value, i) => same(value, group.others[name]![i])));
}

/** The one method that entered the loss; null if none did, or if it cannot be told which. */
export function methodInLoss(group: Group): string | null {
  const found = methodsInLoss(group);
  const isDead = group.samples.every(({ advantage }) => !advantage);
  return found.length === 1 && !isDead ? found[0]! : null;
}

const number = (value: number | null | undefined): string =>
  value == null ? "unknown" : value.toFixed(3).replace("-", "−");

const PARTS = {
  reward: "its sets are correct more often than others",
  diversity: "its sets are more varied than others",
  covariance: "in its sets reward and variety come together more often",
} as const;

const AGAINST = {
  reward: "its sets are correct less often than others",
  diversity: "its sets are less varied than others",
  covariance: "in its sets reward and variety come together less often",
} as const;

/** Sentences on one sample. */
export function why(group: Group, i: number): readonly string[] {
  const sample = group.samples[i]!;
  const sentences: string[] = [];
  const kind =
    sample.correct === null
      ? sample.reward === null
        ? "has no reward in the log"
        : "is not known to be correct or wrong"
      : sample.correct
        ? "is correct"
        : "is wrong";
  if (sample.advantage === null) {
    sentences.push(`y${i + 1} ${kind}. The log does not hold its advantage.`);
  } else {
    const moved =
      sample.advantage === 0
        ? "changed nothing about it"
        : sample.advantage > 0
          ? "made it more likely"
          : "made it less likely";
    const odd = sample.against ? ", against its correctness" : "";
    sentences.push(`y${i + 1} ${kind}, and training ${moved}${odd}.`);
  }
  const found = methodsInLoss(group);
  const sized = found.some((name) => ["poly_epo", "maxpo"].includes(name)) ? ` with sets of ${group.set_size}` : "";
  if (found.length) {
    sentences.push(
      `What entered the loss is what ${found.map((name) => group.methods[name]).join(" and ")} ${found.length === 1 ? "gives" : "give"}${sized}.`,
    );
  } else if (sample.advantage !== null && Object.keys(group.others).length) {
    sentences.push(
      `What entered the loss is not what any of the methods above gives to this group with sets of ${group.set_size}.`,
    );
  }
  const { parts } = group;
  const total = "total" in parts ? parts.total[i] : null;
  if (!("total" in parts) || total == null) return sentences;
  sentences.push(`Poly-EPO's credit with sets of ${group.set_size}: ${number(total)}.`);
  if (total !== 0) {
    const keys = (["reward", "diversity", "covariance"] as const).filter((key) => (parts[key][i] ?? 0) * total > 0);
    const most = keys.sort((a, b) => Math.abs(parts[b][i]!) - Math.abs(parts[a][i]!))[0];
    if (most)
      sentences.push(`The largest part of it (${number(parts[most][i])}): ${(total > 0 ? PARTS : AGAINST)[most]}.`);
  }
  sentences.push(
    `Its sets have a mean reward of ${number(parts.reward_with[i])} (all sets: ${number(parts.all[0])}) and a mean diversity of ${number(parts.diversity_with[i])} (all sets: ${number(parts.all[1])}).`,
  );
  return sentences;
}
