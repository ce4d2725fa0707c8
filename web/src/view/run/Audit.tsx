/** How far a judge can be trusted, as `setrl judge-audit` found. */

import { Panel } from "../../components/Controls";
import type { Found } from "../../components/audited";
import { Contradictions } from "../../components/Contradictions";
import { Findings } from "../../components/Findings";
import { useAnswer } from "../api";
import { route } from "../route";
import { Status } from "../Status";

export function Audit() {
  const asked = useAnswer<Found>("audit", { id: route.value.id });
  return (
    <>
      <Panel
        id="audit"
        title="Audit of a judge"
        lead="How the judge agrees with itself and with other labels, and what its disagreement does to the credit."
      >
        <Status asked={asked}>{(found) => <Findings found={found} />}</Status>
      </Panel>
      {asked.found?.examples?.length ? (
        <Panel
          id="contradictions"
          title="Show me: where it contradicts itself"
          lead="The groups with most flips. The judge saw the samples in another order each time; equal letters in a column are one cluster."
        >
          <Contradictions examples={asked.found.examples} />
        </Panel>
      ) : null}
    </>
  );
}
