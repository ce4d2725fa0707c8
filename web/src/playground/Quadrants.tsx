/** Credit that goes against correctness, in words and as a table. */

import { Term } from "../components/Term";
import { type Quadrants, quadrants } from "../maths";
import { listed, results } from "./results";

const samples = (kind: string, which: readonly number[]): string =>
  `${which.length} ${kind} ${which.length === 1 ? "sample" : "samples"}`;

export function QuadrantTable() {
  const { columns, samples: group } = results.value;
  const found = columns.map((column) => ({ ...column, of: quadrants(group, column.values) }));
  const odd = found.filter(({ of }) => of.correctDown.length + of.wrongUp.length > 0);
  const silent = found.filter(({ of, values }) => of.still.length === values.length);
  return (
    <>
      <div class="warnings" role="status">
        {odd.length === 0 ? (
          <p>No method pushes a correct sample down or a wrong sample up.</p>
        ) : (
          bySentence(odd).map(([text, titles]) => (
            <p key={text} class="warning">
              <strong>{titles.join(", ")}</strong>: {text}
            </p>
          ))
        )}
        {silent.length > 0 ? (
          <p>
            <strong>{silent.map(({ title }) => title).join(", ")}</strong>: no credit in this group, because all its
            samples are worth the same.
          </p>
        ) : null}
      </div>
      <div class="scroll" role="region" tabIndex={0} aria-label="Who is pushed where">
        <table class="quadrants">
          <caption>
            <Term name="quadrants">Who is pushed where</Term>
          </caption>
          <thead>
            <tr>
              <th scope="col">Method</th>
              <th scope="col">correct, more likely</th>
              <th scope="col">correct, less likely</th>
              <th scope="col">wrong, more likely</th>
              <th scope="col">wrong, less likely</th>
              <th scope="col">no credit</th>
            </tr>
          </thead>
          <tbody>
            {found.map(({ key, title, of }) => (
              <tr key={key}>
                <th scope="row">{title}</th>
                <td>{of.correctUp.length}</td>
                <td class={of.correctDown.length > 0 ? "odd" : ""}>{marked(of.correctDown.length)}</td>
                <td class={of.wrongUp.length > 0 ? "odd" : ""}>{marked(of.wrongUp.length)}</td>
                <td>{of.wrongDown.length}</td>
                <td>{of.still.length}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const marked = (count: number) => (count > 0 ? `! ${count}` : "0");

/** The sentences, each with the methods that it is true of. */
function bySentence(odd: readonly { title: string; of: Quadrants }[]): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { title, of } of odd) {
    const text = sentence(of.correctDown, of.wrongUp);
    found.set(text, [...(found.get(text) ?? []), title]);
  }
  return [...found];
}

function sentence(correctDown: readonly number[], wrongUp: readonly number[]): string {
  const parts = [];
  if (correctDown.length > 0) parts.push(`${samples("correct", correctDown)} less likely (${listed(correctDown)})`);
  if (wrongUp.length > 0) parts.push(`${samples("wrong", wrongUp)} more likely (${listed(wrongUp)})`);
  return `${parts.join(", and ")}.`;
}
