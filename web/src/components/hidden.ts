/** Which curves a reader has switched off in the key. */

import { useState } from "preact/hooks";

/** The names with one added, or taken out if it was among them. */
export function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return next;
}

/** The names that are hidden, none at first, and what shows or hides one. */
export function useHidden(): [ReadonlySet<string>, (name: string) => void] {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  return [hidden, (name) => setHidden((before) => toggled(before, name))];
}
