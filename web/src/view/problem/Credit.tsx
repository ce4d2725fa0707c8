/** Who got how much credit: what entered the loss, what other methods would have given, and why. */

import { useState } from "preact/hooks";
import { Choice, Panel, Slider } from "../../components/Controls";
import { SignedBar } from "../../components/SignedBar";
import { Swatch } from "../../components/Swatch";
import { Term } from "../../components/Term";
import type { Group } from "../api";
import type { Pile } from "./piles";
import { go, route } from "../route";
import { visible } from "../../components/visible";
import { largest, opposes } from "./against";
import { Parts } from "./Parts";
import { SOURCE, why } from "./why";

const ROWS_SHOWN = 32; // samples, until a reader asks for all

interface CreditProps {
  group: Group;
  piles: readonly Pile[];
  selected: number;
  onSelect: (i: number) => void;
}

/** Who got how much credit, and why the selected sample did; nothing if nobody can tell. */
export function CreditPanels(props: CreditProps) {
  const { group, selected } = props;
  const hasOwn = group.samples.some(({ advantage }) => advantage !== null);
  if (!group.samples.length || (!hasOwn && !Object.keys(group.others).length)) return null;
  const who = `y${selected + 1}`;
  return (
    <>
      <Panel
        id="credit"
        title="Credit"
        lead={
          hasOwn
            ? "Who got how much credit, and what other methods would have given."
            : "Who would get how much credit, by method. Nothing here was trained."
        }
      >
        <Credit {...props} />
      </Panel>
      <Panel
        id="why"
        title={hasOwn ? `Why ${who} got its credit` : `Why ${who} would get its credit`}
        lead={
          hasOwn ? LEADS[group.origin.kind] : "The log has no advantages. “One more method” above chooses the method."
        }
      >
        {why(group, selected).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        <Parts group={group} i={selected} />
      </Panel>
    </>
  );
}

const LEADS = {
  loss: "What training did with this sample, and which sets or samples decided it.",
  credit: "What setrl credit wrote into this log. Nothing was trained with it.",
  log: "What the advantages in this log would do. The log does not say where they come from.",
} as const;

const FIRST = {
  loss: "that entered the loss",
  credit: "that setrl credit wrote",
  log: "that the log has",
} as const;

function Credit({ group, piles, selected, onSelect }: CreditProps) {
  const { origin, in_log: found } = group;
  const own = origin.method && found.includes(origin.method) ? origin.method : found.length === 1 ? found[0] : null;
  // What is asked for, not what is there: the slider may move on before an answer comes.
  const asked = Math.min(Number(route.value.k ?? group.set_size), group.largest_set_size);
  const used = group.samples.map(({ advantage }) => advantage);
  const hasUsed = used.some((value) => value !== null);
  const isDead = used.every((value) => !value);
  const [isWhole, setWhole] = useState(false);
  const rows = piles.flatMap(({ members, swatch, name }) => members.map((i) => ({ i, swatch, name })));
  const source = SOURCE[origin.kind];
  const columns = [
    ...(hasUsed ? [["used", own && !isDead ? `${source} (${group.methods[own]})` : source, used] as const] : []),
    ...Object.entries(group.methods).map(([name, label]) => [name, label, group.others[name]!] as const),
  ];
  return (
    <>
      <p class="small">
        Column by column: {hasUsed ? "the " : ""}
        {hasUsed ? <Term name="advantage">advantage</Term> : null}
        {hasUsed ? ` ${FIRST[origin.kind]}, then ` : ""}
        what {hasUsed ? "other " : ""}methods would {hasUsed ? "have given" : "give"} to the same samples. Each column
        has its own scale, which stands below its name. “!” marks credit against correctness.
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
                      y{i + 1} {swatch === null ? null : <Swatch strategy={swatch} size={14} />}
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
