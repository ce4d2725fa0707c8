/** Credit that goes against correctness, and the scale of credits. */

const AGAINST = { right: "correct, with negative credit", wrong: "wrong, with positive credit" } as const;

export const opposes = (correct: boolean | null, value: number | null): string | undefined => {
  if (correct === null || value === null || value === 0 || correct === value > 0) return undefined;
  return correct ? AGAINST.right : AGAINST.wrong;
};

export const largest = (values: readonly (number | null)[]): number =>
  Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));
