/** A set with one member more, or one fewer if it was among them. */
export function toggled<T>(known: ReadonlySet<T>, member: T): ReadonlySet<T> {
  const next = new Set(known);
  if (!next.delete(member)) next.add(member);
  return next;
}
