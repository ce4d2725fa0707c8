/** One sample: its text, its grade and why, what the log says of it, and a reader's own marks. */

import { useMemo, useState } from "preact/hooks";
import { SignedBar } from "../components/SignedBar";
import { Swatch } from "../components/Swatch";
import { ask, type Group, type Mark, type Marks, type Query, type Sample } from "./api";
import { Rendered } from "./Rendered";
import { pieces, visible } from "../components/visible";
import { largest, opposes } from "./Credit";

const LETTERS_SHOWN = 1500;
const RENDERED_AT_MOST = 20_000; // letters; more is shown as it is written

interface CardProps {
  group: Group;
  i: number;
  swatch: number | null;
  name: string;
  about: Query;
  search: string;
  isRaw: boolean;
  isSelected: boolean;
  isMarked: boolean;
  mark: Mark;
  onSelect: () => void;
  onCompare: () => void;
  onMark: (mark: Mark) => void;
}

export const verdictOf = ({ correct, reward }: Sample): string => {
  if (correct === null) return reward === null ? "not graded" : "not known to be correct";
  return correct ? "✓ correct" : "✗ wrong";
};

const count = (many: number): string => many.toLocaleString("en");

export function Card(props: CardProps) {
  const { group, i, swatch, name, about, isSelected, isMarked, mark, onSelect, onCompare, onMark } = props;
  const sample = group.samples[i]!;
  const verdict = verdictOf(sample);
  return (
    <div
      id={`sample-${i}`}
      class={isSelected ? "card selected" : "card"}
      role="group"
      tabIndex={0}
      aria-label={`y${i + 1}, ${verdict}`}
      onFocus={onSelect}
    >
      <div class="head">
        <strong>y{i + 1}</strong> {swatch === null ? null : <Swatch cluster={swatch} size={14} />}{" "}
        <span class="small">{visible(name)}</span> <span>{verdict}</span>
        {sample.reward !== null && sample.reward !== Number(sample.correct) ? (
          <span class="small">reward {Number(sample.reward.toFixed(3))}</span>
        ) : null}
        {sample.answer !== null && sample.answer !== name ? (
          <span class="small">answer {visible(sample.answer)}</span>
        ) : null}
        {sample.advantage === null ? null : (
          <SignedBar
            value={sample.advantage}
            largest={largest(group.samples.map(({ advantage }) => advantage))}
            against={opposes(sample.correct, sample.advantage)}
          />
        )}
      </div>
      <Body {...props} />
      {sample.why_wrong ? <p class="note">Wrong, because {visible(sample.why_wrong)}.</p> : null}
      <div class="below">
        <button
          type="button"
          aria-pressed={mark.star === true}
          onClick={() => onMark({ ...mark, star: !mark.star })}
          aria-label={`star y${i + 1}`}
        >
          {mark.star ? "★" : "☆"} (s)
        </button>
        <button type="button" aria-pressed={isMarked} onClick={onCompare} aria-label={`mark y${i + 1} to compare it`}>
          compare (x)
        </button>
      </div>
      <Own mark={mark} onMark={onMark} />
      <Raw about={{ ...about, step: group.step, place: group.place, sample: i }} />
    </div>
  );
}

function Body({ group, i, about, search, isRaw }: CardProps) {
  const sample = group.samples[i]!;
  const [more, setMore] = useState("");
  const [isLong, setLong] = useState(false);
  const text = sample.text + more;
  const rest = useMemo(() => sample.length - [...text].length, [text]); // Python counts whole letters
  const load = async (): Promise<void> => {
    const asked = { ...about, step: group.step, place: group.place, sample: i, from: [...text].length };
    const found = await ask<{ text: string }>("text", asked).catch(() => ({ text: "" }));
    setMore(more + found.text);
  };
  const shown = isLong || search ? text : text.slice(0, LETTERS_SHOWN);
  const words = text.split(/\s+/).filter(Boolean).length;
  if (!sample.length) return <p class="small">{sample.text === "" ? "(no text)" : ""}</p>;
  return (
    <>
      {isRaw || search || shown.length > RENDERED_AT_MOST ? (
        <Text text={shown} branch={sample.branch} search={search} />
      ) : (
        <Rendered text={shown} />
      )}
      <div class="below">
        <span class="small">
          {count(sample.length)} letters{rest > 0 ? "" : `, ${count(words)} words`}
        </span>
        {(text.length > LETTERS_SHOWN || rest > 0) && !search ? (
          <button type="button" onClick={() => setLong(!isLong)}>
            {isLong ? "show less" : `show ${count(text.length)} letters`}
          </button>
        ) : null}
        {rest > 0 && isLong ? (
          <button type="button" onClick={() => void load()}>
            load more of {count(sample.length)} letters
          </button>
        ) : null}
      </div>
    </>
  );
}

/** A text as it is written; a bar shows where it leaves the other samples. */
function Text({ text, branch, search }: { text: string; branch: number; search: string }) {
  const letters = branch < 100_000 ? [...text.slice(0, 2 * branch)].slice(0, branch).join("") : text.slice(0, branch);
  return (
    <pre class="text">
      <span class="shared">
        <Found text={letters} search={search} />
      </span>
      {letters && letters.length < text.length ? <span class="branch" title="here it leaves the others" /> : null}
      <Found text={text.slice(letters.length)} search={search} />
    </pre>
  );
}

function Found({ text, search }: { text: string; search: string }) {
  return (
    <>
      {pieces(visible(text), search).map((piece, i) => (piece.found ? <mark key={i}>{piece.text}</mark> : piece.text))}
    </>
  );
}

/** A reader's label and note; they are saved when the field is left. */
function Own({ mark, onMark }: { mark: Mark; onMark: (mark: Mark) => void }) {
  const { strategy = "", note = "" } = mark;
  const field = (name: "strategy" | "note", label: string, value: string) => (
    <label class="own">
      <span class="field-name">{label}</span>
      <input
        value={value}
        maxLength={1000}
        onChange={(event) => onMark({ ...mark, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <details open={Boolean(strategy || note)}>
      <summary>Your label and note</summary>
      {field("strategy", "strategy, in your words", strategy)}
      {field("note", "note", note)}
    </details>
  );
}

function Raw({ about }: { about: Query }) {
  const [fields, setFields] = useState<string | null>(null);
  const load = (isOpen: boolean): void => {
    if (!isOpen || fields !== null) return;
    ask<{ fields: unknown }>("raw", about).then(
      ({ fields: found }) =>
        setFields(
          found === null ? "Logs of this tool are shown in their own pages only." : JSON.stringify(found, null, 1),
        ),
      (error: unknown) => setFields((error as Error).message),
    );
  };
  return (
    <details onToggle={(event) => load(event.currentTarget.open)}>
      <summary>All fields of the log</summary>
      {fields === null ? null : <pre class="text">{visible(fields)}</pre>}
    </details>
  );
}

/** The marks of a group, and what writes one. */
export function useMarks(
  group: Group,
  about: Query,
): { marks: Marks; saved: string; write: (i: number, mark: Mark) => void } {
  const [marks, setMarks] = useState(group.marks);
  const [saved, setSaved] = useState("");
  const write = (i: number, mark: Mark): void => {
    const known = marks;
    setMarks({ ...marks, [i]: mark });
    ask<{ marks: Marks; file: string }>(
      "mark",
      { ...about, step: group.step, place: group.place, sample: i },
      undefined,
      mark,
    ).then(
      ({ marks: found, file }) => {
        setMarks(found);
        setSaved(`Saved in ${file}, beside the log.`);
      },
      (error: unknown) => {
        setMarks(known);
        setSaved((error as Error).message);
      },
    );
  };
  return { marks, saved, write };
}
