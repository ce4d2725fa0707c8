/** In words: why a sample got its credit. Every number comes from the server. */

import { decimal } from "../../components/format";
import type { Explained, Group, Origin } from "../api";

/** What the advantages of a log are called, by where they come from. */
export const SOURCE: Readonly<Record<Origin["kind"], string>> = {
  loss: "in the loss",
  credit: "setrl credit",
  log: "in the log",
};

const SUBJECT = {
  loss: "What entered the loss",
  credit: "The credit that setrl credit wrote",
  log: "The advantage in the log",
} as const;

const number = (value: number | null | undefined): string => (value == null ? "unknown" : decimal(value));

const list = (names: readonly string[]): string => names.join(" and ");

/** Sentences on one sample. */
export function why(group: Group, i: number): readonly string[] {
  return [outcome(group, i), ...whose(group), ...explanation(group, i)];
}

function outcome(group: Group, i: number): string {
  const { correct, reward, advantage, against } = group.samples[i]!;
  const who = `y${i + 1}`;
  const kind =
    correct === null
      ? reward === null
        ? "has no reward in the log"
        : "is not known to be correct or wrong"
      : correct
        ? "is correct"
        : "is wrong";
  if (group.samples.every((one) => one.advantage === null)) return `${who} ${kind}.`;
  if (advantage === null && group.origin.kind === "credit")
    return `${who} ${kind}. Its credit is unknown: the method leaves it out.`;
  if (advantage === null) return `${who} ${kind}. The log does not hold its advantage.`;
  const to = advantage === 0 ? "changes nothing about it" : `makes it ${advantage > 0 ? "more" : "less"} likely`;
  const odd = against ? ", against its correctness" : "";
  if (group.origin.kind === "loss") return `${who} ${kind}, and training ${past(to)}${odd}.`;
  return `${who} ${kind}, and training with this credit ${would(to)}${odd}.`;
}

const past = (text: string): string => text.replace("changes", "changed").replace("makes", "made");
const would = (text: string): string => text.replace("changes", "would change").replace("makes", "would make");

/** Which method gave the credit of the log. */
function whose(group: Group): readonly string[] {
  const { origin, explained, methods, in_log: found, set_size: size } = group;
  const subject = SUBJECT[origin.kind];
  if (group.samples.every(({ advantage }) => advantage === null)) return [];
  const label = (name: string): string => methods[name] ?? name;
  if (found.length && (origin.method === null || found.includes(origin.method))) {
    const named = origin.method === null ? found : [origin.method];
    const sized = named.some((name) => group.sized.includes(name)) ? ` with sets of ${size}` : "";
    return [`${subject} is what ${list(named.map(label))} ${named.length === 1 ? "gives" : "give"}${sized}.`];
  }
  if (origin.method === null)
    return Object.keys(group.others).length
      ? [`${subject} is not what any of the methods above gives to this group with sets of ${size}.`]
      : [];
  const own = label(origin.method);
  if (explained && origin.set_size !== null && origin.set_size !== explained.set_size)
    return [`${subject} is ${own} with sets of ${origin.set_size}; below, sets have ${explained.set_size}.`];
  return [
    `The method is ${own}, but ${subject.replace(/^[A-Z]/, (first) => first.toLowerCase())} is not what it gives for the rewards in the log.`,
  ];
}

/** What the credit is made of. */
function explanation(group: Group, i: number): readonly string[] {
  const { explained, parts } = group;
  if (!explained || explained.values[i] == null) return [];
  if ("total" in parts) return ofParts(group, i);
  return compared(explained, group.methods[explained.method] ?? explained.method, i);
}

/** The sets of a method, or its single samples, and what they are compared with. */
function compared(one: Explained, label: string, i: number): readonly string[] {
  const isSet = one.set_size > 1;
  const who = isSet
    ? `the sets with y${i + 1} score`
    : one.is_shaped
      ? `y${i + 1} counts`
      : `the reward of y${i + 1} is`;
  const shaped = one.is_shaped ? ", after the method has changed the rewards" : "";
  const against = BASELINES[one.baseline];
  const what = against ? ` ${against(one, i, isSet)}` : "";
  return [
    `${label} compares ${isSet ? `sets of ${one.set_size}` : "single samples"}: ${who} ${number(one.with[i])}${isSet ? " on average" : ""}${shaped}.${what}`,
    `Its credit: ${number(one.values[i])}${one.is_scaled ? ", the difference divided by a standard deviation" : ""}.`,
  ];
}

type Against = (one: Explained, i: number, isSet: boolean) => string;

const BASELINES: Readonly<Record<string, Against>> = {
  all_sets: (one, _, isSet) => `The mean of all ${isSet ? "sets" : "samples"} is ${number(one.all)}.`,
  leave_one_out: (one, i, isSet) =>
    `The mean of the ${isSet ? "sets without it" : "other samples"} is ${number(one.without[i])}.`,
  smaller_sets: (one, _, isSet) =>
    isSet ? `They are compared with the sets of ${one.set_size - 1} other samples, which it could join.` : "",
  none: () => "Nothing is subtracted.",
};

const MORE = {
  reward: "its sets are correct more often than others",
  diversity: "its sets are more varied than others",
  covariance: "in its sets reward and variety come together more often",
} as const;

const LESS = {
  reward: "its sets are correct less often than others",
  diversity: "its sets are less varied than others",
  covariance: "in its sets reward and variety come together less often",
} as const;

/** Poly-EPO's credit by Equation 15. */
function ofParts({ parts, set_size: size }: Group, i: number): readonly string[] {
  const total = "total" in parts ? parts.total[i] : null;
  if (!("total" in parts) || total == null) return [];
  const keys = (["reward", "diversity", "covariance"] as const).filter((key) => (parts[key][i] ?? 0) * total > 0);
  const most = keys.sort((a, b) => Math.abs(parts[b][i]!) - Math.abs(parts[a][i]!))[0];
  const largest = most
    ? [`The largest part of it (${number(parts[most][i])}): ${(total > 0 ? MORE : LESS)[most]}.`]
    : [];
  return [
    `Poly-EPO's credit with sets of ${size}: ${number(total)}.`,
    ...largest,
    `Its sets have a mean reward of ${number(parts.reward_with[i])} (all sets: ${number(parts.all[0])}) and a mean diversity of ${number(parts.diversity_with[i])} (all sets: ${number(parts.all[1])}).`,
  ];
}
