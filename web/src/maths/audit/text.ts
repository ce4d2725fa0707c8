/** What an audit found, as the facts from which its sentences are made (`setrl.theory.audit.text`). */

import { effectiveNumber } from "../dynamics";
import { holds, type Match, rounded, short, written } from "./compare";
import type { Audit } from "./index";
import { SUCCESS, TIMES } from "./leads";
import type { Table } from "./groups";
import { credits, type Facts, meanings, pays, spoken, words } from "./said";

export const WARNING = "Warning:"; // how a sentence begins that makes the others uncertain
const YES = "yes";

export const sentences = (audit: Audit): string[] =>
  spoken({
    name: "the formula",
    Name: "The formula",
    ...ofLaws(audit),
    ...what(audit),
    ...leads(audit),
    ...numbers(audit),
  });

function ofLaws({ laws }: Audit): Facts {
  const said = new Map(laws.map(({ name, says }) => [name, says]));
  const kept = laws.filter(({ name, holds }) => holds && pays.includes(name));
  return {
    ...Object.fromEntries(laws.map(({ name, holds, says }) => [holds ? name : `not ${name}`, says])),
    pays: kept.map(({ says }) => says).join("; it "),
    scales: `${said.get("scale-free")}; it ${said.get("shift-free")}`,
    shifts: said.get("shift-free")!,
  };
}

function what({ nearest, paid, curl, strength }: Audit): Facts {
  const missing = paid.lost === null ? "" : words("missing");
  const rewards = inARow(["0", "1"]);
  const groups = words("groups", { size: `${paid.setting.size}`, rewards, missing, alone: "" });
  if (!nearest) return { rewards, groups, nothing: YES };
  const facts = { rewards, groups, objective: nearest.parts[0]!.label, meaning: meaning(nearest) };
  if (holds(nearest)) {
    const apart = rounded(nearest);
    const exactly = words(nearest.isExact && !apart ? "exactly" : "nearly", { off: share(nearest.off + apart) });
    const way = nearest.parts.length > 1 ? "sum" : nearest.factors[0]! > 0 ? "up" : "down";
    return { ...facts, match: written(nearest), exactly, [way]: YES };
  }
  const way = curl ? "none" : "unnamed";
  return {
    ...facts,
    ...strongly(strength, nearest),
    ...aroundThree(curl, paid.setting.kinds),
    match: off(nearest),
    [way]: YES,
  };
}

/** A distance as per cent with two digits, so that a small one is not 0. */
export const share = (off: number): string => `${short(100 * off, 2)}%`;
const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;
const off = (match: Match): string => words("off", { match: written(match), off: share(match.off) });
const inARow = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]!;

function meaning({ parts: [one, other] }: Match): string {
  const { label, size } = one!;
  const says = other ? "" : (meanings[label.split("@")[0]!] ?? "");
  const single = size === 1 ? says.replace("at least one of K samples", "a sample") : says;
  return single.replace("K samples", `${size} samples`);
}

function strongly(strength: ReadonlyMap<number, number>, match: Match): Facts {
  const ratios = [...strength.values()];
  if (!ratios.every(Number.isFinite)) return {};
  return {
    pushed: written(match),
    strength: inARow(ratios.map((ratio) => ratio.toFixed(ratio < 10 ? 2 : 0))),
    rates: inARow([...strength.keys()].map((rate) => `${Math.round(100 * rate)}%`)),
  };
}

function aroundThree(curl: Audit["curl"], { rewards, labels }: Table): Facts {
  const named = (kind: number): string => words("kind", { reward: `${rewards[kind]}`, label: `${labels[kind]}` });
  if (!curl) return {};
  const [others, corners] = [curl.others, curl.corners].map((kinds) => kinds.map(named).join(", "));
  return { curl: short(curl.value), "curl others": others!, "curl corners": corners! };
}

function leads({ survivors: { path, kept, accuracy } }: Audit): Facts {
  const few = path.findIndex((shares) => effectiveNumber(shares) < 1.5);
  const right = words("are right");
  return {
    leads: YES,
    strategies: `${SUCCESS.length}`,
    success: inARow(SUCCESS.map((rate) => `${Math.round(100 * rate)}%`)),
    kept: `${kept}`,
    when: kept < 2 && few >= 0 ? words("when", { time: `${Math.round(TIMES[few]!)}` }) : "",
    accuracy: percent(accuracy),
    right,
    "right or else": right,
  };
}

function numbers({ otherSizes, variance: { beside, ratio } }: Audit): Facts {
  const found = [...otherSizes()].map(([size, match]) =>
    words(holds(match) ? "size is" : "size near", {
      size: `${size}`,
      match: holds(match) ? written(match) : off(match),
    }),
  );
  const sizes = { sizes: found.join("; in groups of ") };
  if (!beside || !Number.isFinite(ratio)) return sizes;
  return { ...sizes, variance: ratio.toFixed(2), beside: credits[beside.credit]!, "beside what": beside.of };
}
