/** Who got how much credit: what entered the loss, what other methods would have given, and why. */

import { useState } from "preact/hooks";
import { Choice, Slider } from "../components/Controls";
import { SignedBar } from "../components/SignedBar";
import { Swatch } from "../components/Swatch";
import { Term } from "../components/Term";
import type { Group } from "./api";
import type { Cluster } from "./clusters";
import { go, route } from "./route";
import { visible } from "../components/visible";
import { methodInLoss } from "./why";

const AGAINST = { right: "correct, and made less likely", wrong: "wrong, and made more likely" } as const;

export const opposes = (correct: boolean | null, value: number | null): string | undefined => {
  if (correct === null || value === null || value === 0 || correct === value > 0) return undefined;
  return correct ? AGAINST.right : AGAINST.wrong;
};

export const largest = (values: readonly (number | null)[]): number =>
  Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));

const ROWS_SHOWN = 32; // samples, until a reader asks for all

interface CreditProps {
  group: Group;
  clusters: readonly Cluster[];
  selected: number;
  onSelect: (i: number) => void;
}

export function Credit({ group, clusters, selected, onSelect }: CreditProps) {
  const inLoss = methodInLoss(group);
  // What is asked for, not what is there: the slider may move on before an answer comes.
  const asked = Math.min(Number(route.value.k ?? group.set_size), group.largest_set_size);
  const used = group.samples.map(({ advantage }) => advantage);
  const [isWhole, setWhole] = useState(false);
  const rows = clusters.flatMap(({ members, swatch, name }) => members.map((i) => ({ i, swatch, name })));
  const columns = [
    ...(used.some((value) => value !== null)
      ? [["used", inLoss ? `in the loss (${group.methods[inLoss]})` : "in the loss", used] as const]
      : []),
    ...Object.entries(group.methods).map(([name, label]) => [name, label, group.others[name]!] as const),
  ];
  return (
    <>
      <p class="small">
        Column by column: the <Term name="advantage">advantage</Term> that entered the loss, then what other methods
        would have given to the same samples. Each column has its own scale, which stands below its name. “!” marks
        credit against correctness.
      </p>
      <div class="settings">
        {group.largest_set_size > 1 ? (
          <Slider
            label="Set size K of methods that compare sets"
            term="setSize"
            value={asked}
            min={1}
            max={group.largest_set_size}
            step={1}
            onInput={(k) => go({ k }, true)}
          />
        ) : null}
        <Choice
          label="One more method"
          value={route.value.method ?? ""}
          options={[["", "none"], ...Object.entries(group.all_methods)]}
          onChange={(method) => go({ method: method || undefined }, true)}
        />
      </div>
      <div class="scroll" role="region" aria-label="Table of credit" tabIndex={0}>
        <table class="credits">
          <thead>
            <tr>
              <th scope="col">sample</th>
              <th scope="col">reward</th>
              {columns.map(([name, label, values]) => (
                <th key={name} scope="col">
                  {label} <small>±{Number(largest(values).toPrecision(2))}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, isWhole ? undefined : ROWS_SHOWN).map(({ i, swatch, name }) => {
              const sample = group.samples[i]!;
              return (
                <tr key={i} class={i === selected ? "pointed" : ""}>
                  <th scope="row">
                    <button
                      type="button"
                      class="name"
                      aria-pressed={i === selected}
                      title={visible(name)}
                      onClick={() => onSelect(i)}
                    >
                      y{i + 1} {swatch === null ? null : <Swatch cluster={swatch} size={14} />}
                    </button>
                  </th>
                  <td>
                    {sample.reward === null
                      ? "–"
                      : `${sample.correct === null ? "" : sample.correct ? "✓ " : "✗ "}${Number(sample.reward.toFixed(3))}`}
                  </td>
                  {columns.map(([key, , values]) => (
                    <td key={key} data-method={key} data-value={values[i] ?? ""}>
                      {values[i] == null ? (
                        "–"
                      ) : (
                        <SignedBar
                          value={values[i]!}
                          largest={largest(values)}
                          against={opposes(sample.correct, values[i]!)}
                        />
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {rows.length > ROWS_SHOWN ? (
        <button type="button" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "show fewer" : `show all ${rows.length} samples`}
        </button>
      ) : null}
    </>
  );
}

export function Parts({ group, i }: { group: Group; i: number }) {
  const { parts } = group;
  if (!("total" in parts) || parts.total[i] == null) return null;
  const rows = [
    ["rewardPart", "reward", parts.reward],
    ["diversityPart", "diversity", parts.diversity],
    ["covariancePart", "both together", parts.covariance],
    ["polyEpo", "sum: Poly-EPO's advantage", parts.total],
  ] as const;
  const most = largest(rows.map(([, , values]) => values[i] ?? 0));
  return (
    <table class="parts-of-one">
      <caption>
        The parts of Poly-EPO's credit (<Term name="eq15">Equation 15</Term>)
      </caption>
      <thead>
        <tr>
          <th scope="col">part</th>
          <th scope="col">advantage</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([term, name, values]) => (
          <tr key={term}>
            <th scope="row">
              <Term name={term}>{name}</Term>
            </th>
            <td data-part={term} data-value={values[i] ?? ""}>
              <SignedBar value={values[i] ?? 0} largest={most} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
