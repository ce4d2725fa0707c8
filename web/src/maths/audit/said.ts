/** The words of an audit: the templates that `setrl.theory.audit` reads, too. */

import * as texts from "../../../../src/setrl/theory/audit/sentences.json";

export type Facts = Readonly<Record<string, string>>;

export const credits: Facts = texts.credits;
export const meanings: Facts = texts.meanings;
export const pays: readonly string[] = texts.pays;

const filled = (template: string, facts: Facts): string =>
  template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => facts[name]!);

/** A part of a sentence. */
export const words = (key: string, facts: Facts = {}): string => filled((texts.words as Facts)[key]!, facts);

/** What a law says, by its name, behind "not" or another word. */
export const ofLaw = (key: string, facts: Facts = {}): string => filled((texts.laws as Facts)[key]!, facts);

/** The sentences whose conditions hold: a fact is there; with a ! it is not. */
export function spoken(facts: Facts): string[] {
  const lines: string[] = [];
  for (const [needs, template] of texts.sentences as [string, string][]) {
    const holds = (need: string): boolean => (need[0] === "!" ? !facts[need.slice(1)] : !!facts[need]);
    if (!needs.split(", ").every(holds)) continue;
    const text = filled(template, facts);
    if (" ;.".includes(text[0]!)) lines.push(lines.pop() + text);
    else lines.push(text);
  }
  return lines;
}
