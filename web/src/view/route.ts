/** What is looked at, as the part of the address after #, so that a link and the back button keep it. */

import { signal } from "@preact/signals";

export type View = "runs" | "metrics" | "groups" | "group";

const VIEWS: readonly string[] = ["runs", "metrics", "groups", "group"];
const KEYS = [
  "run",
  "arm",
  "seed",
  "step",
  "place",
  "sort",
  "desc",
  "show",
  "text",
  "from",
  "split",
  "k",
  "deep",
  "beside",
  "method",
  "by",
  "raw",
  "sample",
  "pair",
  "find",
  "smooth",
  "other",
] as const;

export type Key = (typeof KEYS)[number];
type Route = { readonly view: View } & Readonly<Partial<Record<Key, string>>>;

export function parse(hash: string): Route {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const view = given.get("view") ?? "runs";
  const found: Partial<Record<Key, string>> = {};
  for (const key of KEYS) {
    const value = given.get(key);
    if (value !== null && value.length < 300) found[key] = value;
  }
  return { ...found, view: (VIEWS.includes(view) ? view : "runs") as View };
}

export type Changes = Readonly<{ view?: View } & Partial<Record<Key, string | number | undefined>>>;

export function hash(route: Route, changes: Changes = {}): string {
  const merged: Record<string, string | number | undefined> = { ...route, ...changes };
  const given = Object.entries(merged).flatMap(([key, value]) =>
    value === undefined || value === "" ? [] : [[key, String(value)]],
  );
  return `#${new URLSearchParams(given).toString()}`;
}

export const route = signal<Route>(parse(location.hash));

addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

/** Go on to what has changed; `replace` leaves no step for the back button. */
export function go(changes: Changes, replace = false): void {
  const target = hash(route.value, changes);
  if (target === location.hash) return;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  route.value = parse(target);
}
