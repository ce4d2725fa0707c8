/** The audit of a judge: how far it can be trusted, in words, in pictures, and where it errs. */

import { Panel } from "../components/Controls";
import { Contradictions } from "./Contradictions";
import { Findings } from "./Findings";
import type { Audited } from "./data";

export function AuditPage({ data }: { data: Audited }) {
  const examples = data.audit.examples ?? [];
  return (
    <main>
      <header>
        <p class="kind">setrl judge-audit</p>
        <h1>{data.name}</h1>
        <div class="in-words">
          {data.verdict.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      </header>
      <Panel
        id="audit"
        title="How far the judge agrees"
        lead="With itself in other orders of the samples, with a judge of pairs, and with gold labels, as far as they were measured. Point at a dot to see its group."
      >
        <Findings found={data.audit} />
      </Panel>
      {examples.length ? (
        <Panel
          id="contradictions"
          title="Show me: where it contradicts itself"
          lead="The groups with most flips. The judge saw the samples in another order each time; equal letters in a column are one strategy."
        >
          <Contradictions examples={examples} />
        </Panel>
      ) : null}
    </main>
  );
}
