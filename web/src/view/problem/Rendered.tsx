/** A sample as a reader wants it: formulas drawn, code in boxes, the rest as it is written. */

import { type ComponentChildren, h } from "preact";
import { useMemo } from "preact/hooks";
import { visible } from "../../components/visible";
import { type Drawn, mathml, UnknownTex } from "./tex";

export type Part =
  | { readonly kind: "text" | "strong"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly isBlock: boolean }
  | { readonly kind: "maths"; readonly text: string; readonly tex: string; readonly isBlock: boolean };

const BRACES = String.raw`\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}`;
const PARTS = new RegExp(
  [
    String.raw`^\x60\x60\x60[^\n]*\n(?<block>[\s\S]*?)(?:^\x60\x60\x60[ \t]*$|$(?![\s\S]))`,
    String.raw`\x60(?<code>[^\x60\n]+)\x60`,
    String.raw`\$\$(?<dollars>[\s\S]+?)\$\$`,
    String.raw`\\\[(?<brackets>[\s\S]+?)\\\]`,
    String.raw`(?<environment>\\begin\{(?<name>align\*?|aligned|equation\*?|gather\*?|cases|[pbv]?matrix)\}[\s\S]+?\\end\{\k<name>\})`,
    String.raw`\\\((?<parentheses>[\s\S]+?)\\\)`,
    String.raw`(?<![\\$\d])\$(?![\s$])(?<dollar>[^$\n]+?)(?<![\s\\])\$(?![\d$])`,
    String.raw`(?<boxed>\\boxed\s*${BRACES})`,
    String.raw`\*\*(?<strong>[^*\n]+)\*\*`,
    String.raw`^#{1,4} (?<heading>[^\n]+)$`,
  ].join("|"),
  "gm",
);

/** A text in parts, which together say all of it. */
export function partsOf(text: string): readonly Part[] {
  const found: Part[] = [];
  let done = 0;
  for (const match of text.matchAll(PARTS)) {
    if (match.index > done) found.push({ kind: "text", text: text.slice(done, match.index) });
    found.push(part(match[0], match.groups!));
    done = match.index + match[0].length;
  }
  if (done < text.length) found.push({ kind: "text", text: text.slice(done) });
  return found;
}

function part(text: string, groups: Record<string, string | undefined>): Part {
  const { block, code, dollars, brackets, environment, parentheses, dollar, boxed, strong, heading } = groups;
  if (block !== undefined) return { kind: "code", text: block, isBlock: true };
  if (code !== undefined) return { kind: "code", text: code, isBlock: false };
  if (strong ?? heading) return { kind: "strong", text: (strong ?? heading)! };
  const tex = dollars ?? brackets ?? environment ?? parentheses ?? dollar ?? boxed ?? "";
  return { kind: "maths", text, tex, isBlock: (dollars ?? brackets ?? environment) !== undefined };
}

/** Whether drawing a text would change how it looks. */
export const isMarked = (text: string): boolean => partsOf(text).some(({ kind }) => kind !== "text");

export function Rendered({ text }: { text: string }) {
  const parts = useMemo(() => partsOf(text), [text]);
  return (
    <div class="rendered" dir="ltr">
      {parts.map((one, i) => (
        <OnePart key={i} part={one} />
      ))}
    </div>
  );
}

function OnePart({ part }: { part: Part }): ComponentChildren {
  switch (part.kind) {
    case "text":
      return visible(part.text);
    case "strong":
      return <strong>{visible(part.text)}</strong>;
    case "code":
      return part.isBlock ? <pre class="text">{visible(part.text)}</pre> : <code>{visible(part.text)}</code>;
    case "maths":
      return <Formula {...part} />;
  }
}

function Formula({ tex, text, isBlock }: { tex: string; text: string; isBlock: boolean }) {
  const drawn = useMemo(() => {
    try {
      return element(mathml(visible(tex)), "0");
    } catch (error) {
      if (error instanceof UnknownTex) return null;
      throw error;
    }
  }, [tex]);
  if (drawn === null) return <code>{visible(text)}</code>;
  return h("math", isBlock ? { display: "block", title: visible(tex) } : { title: visible(tex) }, drawn);
}

const element = ({ tag, attributes, children }: Drawn, key: string): ComponentChildren =>
  h(
    tag,
    { ...attributes, key },
    children.map((one, i) => (typeof one === "string" ? one : element(one, String(i)))),
  );
