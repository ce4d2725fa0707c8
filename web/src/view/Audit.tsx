/** How far a judge can be trusted, as `setrl judge-audit` found. */

import { Panel } from "../components/Controls";
import { useAnswer } from "./api";
import { route } from "./route";
import { Status } from "./Status";
import { visible } from "./visible";

interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly groups: number;
}

interface Found {
  readonly judge?: string;
  readonly file?: string;
  readonly groups?: number;
  readonly orders?: number;
  readonly judgements_unknown?: number;
  readonly clusters?: Estimate;
  readonly agreement: Readonly<Record<string, Readonly<Record<string, Estimate>>>>;
}

const AGAINST: Readonly<Record<string, string>> = { itself: "itself, in other orders of the samples", pairwise: "the judge of pairs", gold: "the gold labels" };

const shown = (value: number | null | undefined): string => (value == null ? "unknown" : value.toFixed(3));
const interval = (one: Estimate | undefined): string => (one ? `${shown(one.value)} [${shown(one.low)}, ${shown(one.high)}]` : "not measured");

export function Audit() {
  const asked = useAnswer<Found>("audit", { id: route.value.id });
  return (
    <Panel id="audit" title="Audit of a judge" lead="How the judge agrees with itself and with other labels, and what its disagreement does to the credit.">
      <Status asked={asked}>
        {(found) => (
          <>
            <p>
              {visible(String(found.judge ?? "A judge"))} on {visible(String(found.file ?? "a file"))}: {found.groups ?? "unknown"} groups,
              {" "}{found.orders ?? "unknown"} orders, {found.judgements_unknown ?? "unknown"} judgements that failed. Strategies of a group: {interval(found.clusters)}.
            </p>
            {Object.entries(found.agreement).map(([name, measures]) => (
              <table key={name} class="rows">
                <caption>Compared with {AGAINST[name] ?? visible(name)}</caption>
                <thead><tr><th scope="col">measure</th><th scope="col">mean over groups, and its interval</th></tr></thead>
                <tbody>
                  {Object.entries(measures).map(([measure, one]) => (
                    <tr key={measure}><th scope="row">{visible(measure.replaceAll("_", " "))}</th><td>{interval(one)}</td></tr>
                  ))}
                </tbody>
              </table>
            ))}
          </>
        )}
      </Status>
    </Panel>
  );
}
