/** The text of a sample: drawn or as it is written, long ones folded and loaded in parts. */

import { useMemo, useState } from "preact/hooks";
import { pieces, visible } from "../../components/visible";
import { ask, type Sample } from "../api";
import type { CardProps } from "./Card";
import { Rendered } from "./Rendered";

const LETTERS_SHOWN = 1500;
const RENDERED_AT_MOST = 20_000; // letters; more is shown as it is written

const count = (many: number): string => many.toLocaleString("en");

type Props = Pick<CardProps, "group" | "i" | "about" | "search" | "isRaw">;

export function CardText({ group, i, about, search, isRaw }: Props) {
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
  if (!sample.length) return <p class="small">{sample.text === "" ? "(no text)" : ""}</p>;
  return (
    <>
      {isRaw || search || shown.length > RENDERED_AT_MOST ? (
        <Text text={shown} branch={sample.branch} search={search} />
      ) : (
        <Rendered text={shown} />
      )}
      <div class="below">
        <span class="small">{lengthOf(sample, rest > 0 ? null : text)}</span>
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

/** How long a sample is: in tokens if the log counts them, else in letters and, of a whole text, words. */
function lengthOf({ tokens, length }: Sample, text: string | null): string {
  if (tokens !== null) return tokens === 1 ? "1 token" : `${count(tokens)} tokens`;
  const words = text === null ? "" : `, ${count(text.split(/\s+/).filter(Boolean).length)} words`;
  return `${count(length)} letters${words}`;
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
