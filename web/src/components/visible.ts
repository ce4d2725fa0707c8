/** Texts as they are: what would steer the browser or the terminal is shown as a sign. */

// C0 and C1 controls but line break and tab, DEL, and marks that are invisible or turn the direction of a text.
const STEERING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const sign = (found: string): string => {
  const code = found.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code); // ␀ … ␟
  return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
};

export const visible = (text: string): string => text.replace(STEERING, sign);

export interface Piece {
  readonly text: string;
  readonly found: boolean;
}

/** A text in pieces, those that are looked for among them; upper and lower case are one. */
export function pieces(text: string, wanted: string): readonly Piece[] {
  if (!wanted) return [{ text, found: false }];
  const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), "gi");
  const cut: Piece[] = [];
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > done) cut.push({ text: text.slice(done, match.index), found: false });
    cut.push({ text: match[0], found: true });
    done = match.index + match[0].length;
  }
  if (done < text.length) cut.push({ text: text.slice(done), found: false });
  return cut;
}
