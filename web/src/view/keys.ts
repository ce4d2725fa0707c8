/** Keys of the page, which must not act while somebody types. */

import { useLayoutEffect } from "preact/hooks";

function typing(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const at = event.target;
  return at instanceof HTMLElement && at.matches("input, select, textarea");
}

/** What each key does. Escape also acts while somebody types. */
export function useKeys(does: Readonly<Record<string, () => void>>): void {
  // Before the next key can come, so that every key acts on what is selected now.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const act = does[event.key];
      if (!act || (event.key !== "Escape" && typing(event))) return;
      act();
      if (event.key !== "Escape") event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

/** The keys of a list: one step forward and one step back. */
export const stepping = (move: (by: 1 | -1) => void): Readonly<Record<string, () => void>> => ({
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
});
