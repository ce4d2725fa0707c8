/** A number as a bar to the left or right of a zero line, with the number beside it. */

import { decimal } from "./format";

export const signed = (value: number, digits = 3): string => {
  const text = decimal(value, digits);
  return value > 0 && text !== "0" ? `+${text}` : text;
};

interface Props {
  value: number;
  /** The value of a bar that is as long as there is room. */
  largest: number;
  /** Whether the credit goes against correctness, and why. */
  against?: string | undefined;
}

export function SignedBar({ value, largest, against }: Props) {
  const length = largest > 0 ? Math.min(1, Math.abs(value) / largest) * 50 : 0;
  const side = value < 0 ? { right: "50%" } : { left: "50%" };
  return (
    <span class={against ? "signed against" : "signed"}>
      <span class="track" aria-hidden="true">
        <span class={value < 0 ? "fill minus" : "fill plus"} style={{ ...side, width: `${length}%` }} />
      </span>
      <span class="number">
        {against ? (
          <span class="mark" title={against} aria-hidden="true">
            !
          </span>
        ) : null}
        {against ? " " : ""}
        {signed(value)}
        {against ? <span class="hidden">: {against}</span> : null}
      </span>
    </span>
  );
}
