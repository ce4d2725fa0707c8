/** In words: at which k an arm is above or below another one, and where it is first below. */

import type { Difference, Evaluation as Answer, Loss, Run } from "../api";
import { lookOf } from "../looks";

const ranges = (found: readonly (readonly [number, number])[]): string =>
  found.map(([low, high]) => (low === high ? `${low}` : `${low} to ${high}`)).join(", ");

const loss = (name: string, other: string, found: Loss | null, last: number): string => {
  if (found === null) return `Whether ${name} is below ${other} is unknown: the problems do not differ enough.`;
  const { low, high } = found;
  if (low > last) return `${name} is below ${other} at no k up to ${last}.`;
  if (high === null)
    return `${name} is not shown to be below ${other}${low > 1 ? `, and may be only from k = ${low} on` : ""}.`;
  return `The first k at which ${name} is below ${other} is ${low === high ? low : `between ${low} and ${high}`}.`;
};

export function Verdicts({ run, found }: { run: Run; found: Answer }) {
  const last = found.ks.at(-1)!;
  return (
    <ul class="verdicts">
      {found.differences.map((one) => {
        const [name, other] = [lookOf(run, one.name).label, lookOf(run, found.reference).label];
        return (
          <li key={one.name}>
            {shownWhere(one, name, other)} {loss(name, other, one.loses_first, last)}{" "}
            {loss(other, name, one.reference_loses_first, last)}
          </li>
        );
      })}
    </ul>
  );
}

function shownWhere(one: Difference, name: string, other: string): string {
  const above = one.above.length
    ? `${name} is above ${other} at k = ${ranges(one.above)}, for all of these at once.`
    : "";
  const below = one.below.length
    ? `${name} is below ${other} at k = ${ranges(one.below)}, for all of these at once.`
    : "";
  return above || below ? `${above} ${below}`.trim() : `No difference between ${name} and ${other} is shown at any k.`;
}
