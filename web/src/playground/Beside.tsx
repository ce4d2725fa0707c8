/** The formula of one's own beside published ones, in the columns of docs/estimators.md. */

import type { ComponentChildren } from "preact";
import { Term } from "../components/Term";
import { type Audit, holds, share, SUCCESS, written } from "../maths";
import { audited, beside } from "./audited";
import published from "./published.json";
import { change, parts } from "./state";

const now = parts("formula", "groupSize");

const COLUMNS: readonly (readonly [string, ComponentChildren])[] = [
  ["mean update", <Term name="meanUpdate">mean update</Term>],
  ["off", <Term name="off">off</Term>],
  ["variance", <Term name="variance">variance</Term>],
  ["unusual", "unusual: it is, or pays"],
  ["keeps", "keeps"],
];

const ODD: Readonly<Record<string, string>> = {
  finite: "NaN",
  "zero-sum": "not centred",
  "silent-if-all-wrong": "all-wrong groups",
  "silent-if-all-right": "all-right groups",
  "no-pay-for-wrong": "wrong samples",
};

export function Beside() {
  const own = audited.value;
  const isPublished = published.some(({ formula }) => formula === own?.paid.formula.text);
  return (
    <div class="scroll" role="region" tabIndex={0} aria-label="Published estimators">
      <table class="estimators">
        <caption>Beside published estimators, in groups of {now.value.groupSize}. Press one to see it above.</caption>
        <thead>
          <tr>
            <th scope="col">estimator</th>
            {COLUMNS.map(([name, title]) => (
              <th key={name} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {own && !isPublished ? (
            <tr class="pointed">
              <th scope="row">
                yours: <code>{own.paid.formula.text}</code>
              </th>
              <Cells audit={own} />
            </tr>
          ) : null}
          {published.map(({ shows, formula, place }, at) => (
            <tr key={shows} class={formula === own?.paid.formula.text ? "pointed" : undefined}>
              <th scope="row">
                <button type="button" class="link" onClick={() => change({ formula })}>
                  {shows}
                </button>
                <small>{place}</small>
              </th>
              <Cells audit={beside.value[at] ?? null} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cells({ audit }: { audit: Audit | null }) {
  const values = audit ? valuesOf(audit) : COLUMNS.map(() => "…");
  return (
    <>
      {COLUMNS.map(([name], at) => (
        <td key={name} data-name={name}>
          {values[at]}
        </td>
      ))}
    </>
  );
}

/** What the columns show of an audit. */
function valuesOf({ nearest, curl, variance, laws, survivors }: Audit): string[] {
  const exact = nearest !== null && holds(nearest);
  const near = exact ? "" : curl ? "no objective; near " : "near ";
  return [
    nearest ? `${near}${written(nearest)}` : "0",
    nearest ? (exact ? "0" : share(nearest.off)) : "—",
    Number.isNaN(variance.ratio) ? "—" : variance.ratio.toFixed(2),
    laws.flatMap(({ name, holds }) => (!holds && name in ODD ? [ODD[name]!] : [])).join("; ") || "nothing",
    `${survivors.kept} of ${SUCCESS.length}`,
  ];
}
