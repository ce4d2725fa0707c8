/** An estimator as a formula: what training with it follows, beside published ones. */

import { useId } from "preact/hooks";
import { Slider } from "../components/Controls";
import { Term } from "../components/Term";
import { type Audit, FUNCTIONS, LONGEST, NAMES, sentences, WARNING, WHERE } from "../maths";
import { Gradient, Leads } from "./AuditCharts";
import { audited, error, useSeen } from "./audited";
import { Beside } from "./Beside";
import { Copies } from "./Copies";
import { pythonOfFormula } from "./python";
import { change, parts } from "./state";

const now = parts("formula", "groupSize");

export function Estimator() {
  const place = useSeen();
  const { groupSize } = now.value;
  const found = audited.value;
  return (
    <div ref={place}>
      <Input />
      <Slider
        label="samples in a group, N"
        value={groupSize}
        min={2}
        max={8}
        step={1}
        onInput={(next) => change({ groupSize: next })}
      />
      <Vocabulary />
      {found ? <Found audit={found} /> : null}
      <Beside />
    </div>
  );
}

function Input() {
  const id = useId();
  const wrong = error.value;
  return (
    <div class="formula">
      <label for={id} class="field-name">
        The <Term name="advantage">advantage</Term> of a sample
      </label>
      <input
        id={id}
        type="text"
        value={now.value.formula}
        maxLength={LONGEST}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        aria-invalid={wrong !== null}
        aria-describedby={`${id}-wrong`}
        onInput={(event) => change({ formula: event.currentTarget.value })}
      />
      <p id={`${id}-wrong`} role="status" class={wrong ? "warning" : "hidden"}>
        {wrong ?? ""}
      </p>
    </div>
  );
}

const Vocabulary = () => (
  <details class="vocabulary">
    <summary>Names and functions of a formula</summary>
    <dl>
      {Object.entries(NAMES).map(([name, [says]]) => (
        <Word key={name} name={name} says={says} />
      ))}
      {Object.entries(FUNCTIONS).map(([name, { says }]) => (
        <Word key={name} name={name} says={says} />
      ))}
      <Word name="where" says={WHERE} />
    </dl>
    <p class="small">
      With + − * / ** and parentheses, as in Python. Rewards are 1 or 0; a formula that reads strategies is tried with
      three.
    </p>
  </details>
);

const Word = ({ name, says }: { name: string; says: string }) => (
  <div>
    <dt>
      <code>{name}</code>
    </dt>
    <dd>{says}</dd>
  </div>
);

function Found({ audit }: { audit: Audit }) {
  const { formula, setting } = audit.paid;
  const all = sentences(audit);
  const warnings = all.filter((sentence) => sentence.startsWith(WARNING));
  const [first, ...others] = all.slice(warnings.length);
  return (
    <>
      <h3>
        <code>{formula.text}</code>
      </h3>
      <div role="status">
        {warnings.map((sentence) => (
          <p key={sentence} class="warning">
            {sentence}
          </p>
        ))}
        <p class="verdict-line">{first}</p>
      </div>
      <ul class="found">
        {others.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <div class="charts two">
        <Gradient audit={audit} />
        <Leads audit={audit} />
      </div>
      <Copies code={pythonOfFormula(formula, setting.size)} />
    </>
  );
}
