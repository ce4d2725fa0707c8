/** What the arms of a control run achieved: any metric against any other, and all of them as a table. */

import { useState } from "preact/hooks";
import { Choice } from "../components/Controls";
import type { Look } from "../components/Curves";
import { Figure } from "../components/Figure";
import { Scatter, type Spot } from "./Scatter";
import { visible } from "../components/visible";

/** A metric of an arm: the mean over seeds, one standard error below and above, and each seed. */
interface Outcome {
  readonly value: number | null;
  readonly stderr: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly seeds: readonly (number | null)[];
}

export interface OutcomeTable {
  readonly metrics: readonly { readonly name: string; readonly label: string }[];
  /** The metric of success, and those of diversity; what is drawn at first. */
  readonly quality: string | null;
  readonly diversity: readonly string[];
  readonly arms: readonly {
    readonly arm: string;
    readonly seeds: readonly number[];
    readonly metrics: Readonly<Record<string, Outcome>>;
  }[];
}

interface Props {
  table: OutcomeTable;
  look: (arm: string) => Look;
  hidden?: ReadonlySet<string>;
}

/** Three decimals, fewer for large numbers. */
export const digits = (value: number | null): string =>
  value === null ? "—" : value.toFixed(Math.abs(value) < 10 ? 3 : Math.abs(value) < 1000 ? 1 : 0).replace("-", "−");

export function Outcomes({ table, look, hidden = new Set() }: Props) {
  const names = table.metrics.map(({ name }) => name);
  const [across, setAcross] = useState(table.quality ?? names[0] ?? "");
  const [up, setUp] = useState(table.diversity[0] ?? names.find((name) => name !== across) ?? across);
  const label = (name: string): string => visible(table.metrics.find((one) => one.name === name)?.label ?? name);
  const options = names.map((name) => [name, label(name)] as const);
  const spots = table.arms.flatMap(({ arm, metrics }): Spot[] => {
    const [x, y] = [metrics[across], metrics[up]];
    if (hidden.has(arm) || x?.value == null || y?.value == null) return [];
    return [{ key: arm, look: look(arm), x: { ...x, value: x.value }, y: { ...y, value: y.value } }];
  });
  const title = `${label(up)} against ${label(across)}`;
  return (
    <>
      <div class="settings">
        <Choice label="Up" value={up} options={options} onChange={setUp} />
        <Choice label="Across" value={across} options={options} onChange={setAcross} />
      </div>
      <Figure
        title={title}
        file={`${up}_against_${across}`.replaceAll(/[^\w@]+/g, "_")}
        rows={() => [
          ["arm", "metric", "mean over seeds", "standard error", "seeds", "each seed"],
          ...table.arms.flatMap(({ arm, seeds, metrics }) =>
            names.map((name) => {
              const { value = null, stderr = null, seeds: each = [] } = metrics[name] ?? {};
              return [look(arm).label, name, value, stderr, seeds.join(" "), each.map((one) => one ?? "").join(" ")];
            }),
          ),
        ]}
      >
        {spots.length ? (
          <Scatter
            spots={spots}
            title={title}
            height={340}
            joined
            x={{ label: label(across), format: digits, tick: String }}
            y={{ label: label(up), format: digits, tick: String }}
          />
        ) : (
          <p class="note">No arm that is shown has both metrics.</p>
        )}
      </Figure>
      <p class="small">
        Each point is an arm: the mean over seeds, with bars of one standard error. Dashed lines join arms that differ
        only in a number.
      </p>
      <Numbers table={table} look={look} hidden={hidden} />
    </>
  );
}

function Numbers({ table, look, hidden }: Required<Props>) {
  const [by, setBy] = useState<{ name: string; down: boolean } | null>(null);
  const shown = table.arms.filter(({ arm }) => !hidden.has(arm));
  const value = (of: (typeof shown)[number], name: string): number => of.metrics[name]?.value ?? -Infinity;
  const rows = by ? shown.toSorted((a, b) => (value(b, by.name) - value(a, by.name)) * (by.down ? 1 : -1) || 0) : shown;
  return (
    <div class="scroll" role="region" aria-label="Outcomes in numbers" tabIndex={0}>
      <table class="numbers">
        <caption>Mean ± standard error over seeds; choose a column to sort by it</caption>
        <thead>
          <tr>
            <th scope="col">arm</th>
            {table.metrics.map(({ name, label }) => (
              <th
                key={name}
                scope="col"
                aria-sort={by?.name === name ? (by.down ? "descending" : "ascending") : undefined}
              >
                <button
                  type="button"
                  class="sort"
                  onClick={() => setBy({ name, down: by?.name === name ? !by.down : true })}
                >
                  {visible(label)} <span aria-hidden="true">{by?.name === name ? (by.down ? "↓" : "↑") : ""}</span>
                </button>
              </th>
            ))}
            <th scope="col">seeds</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ arm, seeds, metrics }) => (
            <tr key={arm}>
              <th scope="row">{look(arm).label}</th>
              {table.metrics.map(({ name }) => (
                <td key={name} data-metric={name} data-value={metrics[name]?.value ?? ""}>
                  {digits(metrics[name]?.value ?? null)}
                  {metrics[name]?.stderr == null ? null : <small>± {digits(metrics[name]!.stderr)}</small>}
                </td>
              ))}
              <td>{seeds.length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
