/** The controls of a page: a choice of some, a slider, a group of buttons. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { TermName } from "./glossary";
import { Term } from "./Term";

interface Named {
  label: string;
  term?: TermName | undefined;
}

function Name({ label, term, id }: Named & { id: string }) {
  return (
    <div class="field-name" id={id}>
      {term ? <Term name={term}>{label}</Term> : label}
    </div>
  );
}

interface ChoiceProps<T extends string> extends Named {
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

export function Choice<T extends string>({ label, term, value, options, onChange }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <Name label={label} term={term} id={id} />
      <select aria-labelledby={id} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map(([key, text]) => (
          <option key={key} value={key} selected={key === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface SliderProps extends Named {
  value: number;
  min: number;
  max: number;
  step: number;
  format?: (value: number) => string;
  onInput: (value: number) => void;
}

export function Slider({ label, term, value, min, max, step, format = String, onInput }: SliderProps) {
  const id = useId();
  return (
    <div class="field slider">
      <Name label={label} term={term} id={id} />
      <input
        type="range"
        aria-labelledby={id}
        aria-valuetext={format(value)}
        min={min}
        max={max}
        step={step}
        value={value}
        onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
      />
      <output>{format(value)}</output>
    </div>
  );
}

interface Toggle<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** A few exclusive buttons in one row. */
export function Segments<T extends string>({ label, value, options, onChange }: Toggle<T>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </div>
  );
}

interface PanelProps {
  id: string;
  title: string;
  lead: ComponentChildren;
  children: ComponentChildren;
}

/** A section that a phone shows folded, so that a reader sees what there is before the details. */
export function FoldedPanel({ id, title, lead, children }: PanelProps) {
  const isNarrow = matchMedia("(max-width: 44rem)").matches;
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <details open={!isNarrow} class="folded">
        <summary>
          <h2 id={`${id}-title`}>{title}</h2>
        </summary>
        <p class="lead">{lead}</p>
        {children}
      </details>
    </section>
  );
}

/** A section of the page with a heading and one sentence on what it shows. */
export function Panel({ id, title, lead, children }: PanelProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <p class="lead">{lead}</p>
      {children}
    </section>
  );
}
