/** Numbers as text, as the tables of the report have them: a true minus, a dash for none. */

type Format = (value: number) => string;

export const percent: Format = (value) => `${minus(fixed(100 * value, 1))}%`;

export const plain: Format = (value) => minus(fixed(value, Math.abs(value) >= 100 ? 0 : 2));

/** Percentage points; in one digit where 0.0 would hide that it is not 0. */
export const points: Format = (value) => {
  const isHidden = Math.abs(value) < 0.0005 && Math.abs(value) > NOISE;
  return isHidden
    ? `${value > 0 ? "+" : ""}${minus(String(Number((100 * value).toPrecision(1))))}`
    : signed(100 * value, 1);
};

export const difference: Format = (value) => signed(value, 2);

export const seconds: Format = (value) => {
  if (value < 60) return `${Number(value.toPrecision(2))} s`;
  return value < 3600 ? `${(value / 60).toFixed(1)} min` : `${(value / 3600).toFixed(1)} h`;
};

/** A half goes away from 0, as in the tables of the commands: 100 * 0.5125 is 51.3. */
function fixed(value: number, digits: number): string {
  return Number(value.toFixed(9)).toFixed(digits);
}

function signed(value: number, digits: number): string {
  const text = minus(fixed(value, digits));
  return value > 0 && Number(fixed(value, digits)) !== 0 ? `+${text}` : text;
}

/** A number in three decimals; smaller ones in one digit, because 0.000 and −0.000 say nothing. */
export function decimal(value: number, digits = 3): string {
  if (Math.abs(value) < NOISE) return "0";
  const isSmall = Math.abs(value) < 0.5 * 10 ** -digits;
  return minus(isSmall ? value.toExponential(0) : fixed(value, digits));
}

/** Names in a row: "a, b and c". */
export const inARow = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");

const NOISE = 1e-12; // of sums of floating-point numbers near 1

const minus = (text: string): string => text.replaceAll("-", Number(text) === 0 ? "" : "−");
