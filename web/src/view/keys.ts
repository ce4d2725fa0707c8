/** Keys of the page, which must not act while somebody types. */

export function typing(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const at = event.target;
  return at instanceof HTMLElement && at.matches("input, select, textarea");
}
