/** An audit in sentences, as `setrl audit` prints it. */

import { type Match, holds, written } from "./compare";
import type { Audit } from "./index";

const PAYS = ["zero-sum", "silent-if-all-wrong", "silent-if-all-right", "no-pay-for-wrong"];
const ALARMS = ["finite", "survives-missing"]; // said only if they do not hold

export const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

export const sentences = (audit: Audit): string[] => [
  ...what(audit),
  ...variance(audit),
  ...pays(audit),
  scales(audit),
  leads(audit),
  ...audit.laws.filter(({ name, holds }) => ALARMS.includes(name) && !holds).map(({ says }) => `It ${says}.`),
];

function what({ nearest, paid, curl }: Audit): string[] {
  const start = `In groups of ${paid.setting.size}`;
  if (!nearest) return [`${start}: its expected gradient is 0; it optimises nothing.`];
  if (nearest.isExact) return [`${start}: this is ${written(nearest)}, exactly.`];
  if (holds(nearest))
    return [`${start}: this is ${written(nearest)}, up to ${nearest.off.toExponential(0)} of its length.`];
  const name = curl ? "no objective" : "no objective that we know";
  return [`${start}: this is the gradient of ${name}; nearest is ${off(nearest)}.`];
}

function off(match: Match): string {
  const [low, high] = match.weights.map((weight) => weight.toFixed(2));
  return (
    `${written(match)}, off by ${percent(match.off)} (it weights policies ${low} to ${high} times as this ` +
    "gradient does)"
  );
}

function variance({ variance: { beside, ratio } }: Audit): string[] {
  if (!beside || !Number.isFinite(ratio)) return [];
  return [`It has ${ratio.toFixed(2)} times the variance of ${beside.credit} of ${beside.of}, as means over policies.`];
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

function leads({ survivors: { kept, accuracy } }: Audit): string {
  return (
    `Of 3 strategies that are right in 90%, 80%, 70% of their samples it keeps ${kept}, with ` +
    `${percent(accuracy)} right in the end.`
  );
}
