/** A number as a bar to the left or right of a zero line, with the number beside it. */

export const signed = (value: number, digits = 3): string => {
  const rounded = Number(value.toFixed(digits));
  if (rounded === 0) return value === 0 ? "0" : `${value > 0 ? "+" : "−"}0.${"0".repeat(digits)}`;
  return `${rounded > 0 ? "+" : "−"}${Math.abs(rounded).toFixed(digits)}`;
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
