/** What an audit of a judge found: one measure of every group, and all measures in numbers. */

import { useState } from "preact/hooks";
import { AGAINST, type Found, interval, MEASURES } from "./audited";
import { AuditGroups } from "./AuditGroups";
import { Choice } from "../components/Controls";
import { visible } from "../components/visible";

export function Findings({ found }: { found: Found }) {
  const comparisons = Object.keys(found.agreement);
  const measures = Object.keys(MEASURES).filter((measure) =>
    comparisons.some((name) => found.agreement[name]![measure]),
  );
  const [measure, setMeasure] = useState(measures[0] ?? "");
  return (
    <>
      <p>
        {visible(String(found.judge ?? "A judge"))} on {visible(String(found.file ?? "a file"))}:{" "}
        {found.groups ?? "unknown"} groups, {found.orders ?? "unknown"} orders, {found.judgements_unknown ?? "unknown"}{" "}
        judgements that failed. Strategies of a group: {interval(found.strategies)}.
      </p>
      {found.by_group && measures.length ? (
        <>
          <div class="settings">
            <Choice
              label="Measure"
              value={measure}
              options={measures.map((one) => [one, MEASURES[one]![0]] as const)}
              onChange={setMeasure}
            />
          </div>
          <AuditGroups found={found} measure={measure} />
        </>
      ) : (
        <p class="small">This audit holds no values of single groups.</p>
      )}
      <Numbers found={found} measures={measures} />
    </>
  );
}

function Numbers({ found, measures }: { found: Found; measures: readonly string[] }) {
  const comparisons = Object.keys(found.agreement);
  const others = [...new Set(comparisons.flatMap((name) => Object.keys(found.agreement[name]!)))].filter(
    (name) => !measures.includes(name),
  );
  return (
    <div class="scroll" role="region" aria-label="Agreement in numbers" tabIndex={0}>
      <table>
        <caption>Means over groups, with their 95% intervals</caption>
        <thead>
          <tr>
            <th scope="col">measure</th>
            {comparisons.map((name) => (
              <th key={name} scope="col">
                compared with {AGAINST[name] ?? visible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...measures, ...others].map((measure) => (
            <tr key={measure}>
              <th scope="row">{MEASURES[measure]?.[0] ?? visible(measure.replaceAll("_", " "))}</th>
              {comparisons.map((name) => (
                <td key={name}>{found.agreement[name]![measure] ? interval(found.agreement[name]![measure]) : ""}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
