/** An audit in sentences, as `setrl audit` prints them (`setrl.theory.audit.text`). */

import { effectiveNumber } from "../dynamics";
import { holds, type Match, short, written } from "./compare";
import type { Audit } from "./index";
import { SUCCESS, TIMES } from "./leads";
import type { Table } from "./groups";

const PAYS = ["zero-sum", "silent-if-all-wrong", "silent-if-all-right", "no-pay-for-wrong"];

export const WARNING = "Warning:"; // how a sentence begins that makes the others uncertain

/** What the objectives are that are often found; K stands for the set size. */
const MEANINGS: Readonly<Record<string, string>> = {
  pass: "the chance that at least one of K samples is right",
  min: "the expected worst reward of K samples",
  "mean reward": "the expected reward of a sample",
  distinct_correct: "the expected number of strategies with a right sample among K samples",
  polychromic: "the expected mean reward of K samples × their share of different strategies",
  "(Σ pass": "MaxRL's objective: the logarithm of the success rate, cut off",
};

export const sentences = (audit: Audit): string[] => [
  ...broken(audit, "finite").map((says) => `${WARNING} the formula ${says}.`),
  ...what(audit),
  ...sizes(audit),
  ...variance(audit),
  ...pays(audit),
  scales(audit),
  leads(audit),
  ...broken(audit, "survives-missing").map((says) => `It ${says}.`),
];

/** What an audit says of a law that must hold, if it does not. */
const broken = ({ laws }: Audit, law: string): string[] =>
  laws.flatMap(({ name, holds, says }) => (name === law && !holds ? [says] : []));

function what({ nearest, paid, curl, strength }: Audit): string[] {
  const missing = paid.lost === null ? "" : ", if NaN counts as 0";
  const groups = `(groups of ${paid.setting.size} samples with rewards 0 and 1${missing}).`;
  if (!nearest) return [`The formula optimises nothing: its mean update is 0 for every policy ${groups}`];
  const meant = meaning(nearest);
  if (holds(nearest)) {
    const exactly = nearest.isExact ? "exactly" : `up to ${share(nearest.off)} of its length`;
    return [`The formula ${optimises(nearest)}: its mean update is ${written(nearest)}, ${exactly} ${groups}${meant}`];
  }
  const none = curl ? "no objective" : "no objective that we know";
  return [
    `The formula follows the gradient of ${none}; the nearest is ${off(nearest)} ${groups}${meant}`,
    ...strongly(strength, nearest),
    ...(curl ? [aroundThree(curl, paid.setting.kinds)] : []),
  ];
}

function optimises({ parts: [one, other], factors }: Match): string {
  if (other) return "optimises a sum of two objectives";
  return `${factors[0]! > 0 ? "optimises" : "minimises"} ${one!.label}`;
}

/** A distance as per cent with two digits, so that a small one is not 0. */
export const share = (off: number): string => `${short(100 * off, 2)}%`;
const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;
const off = (match: Match): string => `${written(match)}, ${share(match.off)} off`;
const inARow = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]!;

function meaning({ parts: [one, other] }: Match): string {
  const { label, size } = one!;
  const says = other ? undefined : MEANINGS[label.split("@")[0]!];
  if (!says) return "";
  const single = size === 1 ? says.replace("at least one of K samples", "a sample") : says;
  return ` Here ${label} is ${single.replace("K samples", `${size} samples`)}.`;
}

function strongly(strength: ReadonlyMap<number, number>, match: Match): string[] {
  const ratios = [...strength.values()];
  if (!ratios.every(Number.isFinite)) return [];
  const hard = inARow(ratios.map((ratio) => ratio.toFixed(ratio < 10 ? 2 : 0)));
  const rates = inARow([...strength.keys()].map((rate) => `${Math.round(100 * rate)}%`));
  return [`It pushes ${hard} times as hard as ${written(match)} at success rates of ${rates}.`];
}

function aroundThree({ others, corners, value }: NonNullable<Audit["curl"]>, { rewards, labels }: Table): string {
  const named = (kind: number): string => `reward ${rewards[kind]} label ${labels[kind]}`;
  return (
    `No objective has this gradient: with the others (${others.map(named).join(", ")}), the differences of ` +
    `advantages around ${corners.map(named).join(", ")} sum to ${short(value)}, not to 0.`
  );
}

function sizes({ otherSizes }: Audit): string[] {
  const found = [...otherSizes()].map(
    ([size, match]) => `n groups of ${size} it is ${holds(match) ? written(match) : `nearest to ${off(match)}`}`,
  );
  return found.length > 0 ? [`I${found.join("; i")}.`] : [];
}

const CREDITS: Readonly<Record<string, string>> = {
  "u − v": "the leave-one-out credit (u − v)",
  "u − w": "the gain over smaller sets (u − w)",
  u: "u",
};

function variance({ variance: { beside, ratio } }: Audit): string[] {
  if (!beside || !Number.isFinite(ratio)) return [];
  const of = `${CREDITS[beside.credit]} of ${beside.of}, scaled to the same factor`;
  return [`Its variance is ${ratio.toFixed(2)} times the variance of ${of} (means over policies).`];
}

function pays({ laws }: Audit): string[] {
  const own = PAYS.map((name) => laws.find((law) => law.name === name)!);
  const kept = own.filter(({ holds }) => holds).map(({ says }) => says);
  const broken = own.filter(({ holds }) => !holds).map(({ says }) => `It ${says}.`);
  return kept.length > 0 ? [`It ${kept.join("; it ")}.`, ...broken] : broken;
}

function scales({ laws }: Audit): string {
  const says = (name: string) => laws.find((law) => law.name === name)!.says;
  return `It ${says("scale-free")}; it ${says("shift-free")}.`;
}

function leads({ survivors: { path, kept, accuracy } }: Audit): string {
  const rates = inARow(SUCCESS.map((rate) => `${Math.round(100 * rate)}%`));
  const few = path.findIndex((shares) => effectiveNumber(shares) < 1.5);
  const when = kept < 2 && few >= 0 ? `, after learning rate × steps = ${Math.round(TIMES[few]!)}` : "";
  return (
    `On a prompt with ${SUCCESS.length} strategies that are right in ${rates} of their samples, its mean update ` +
    `keeps ${kept} of them${when}; at learning rate × steps = 3,000, ${percent(accuracy)} of the samples are right.`
  );
}
