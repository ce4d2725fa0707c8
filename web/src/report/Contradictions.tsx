/** The groups on which a judge contradicts itself. */

import type { Example } from "./audited";
import { SampleText } from "./SampleText";

/** The groups on which the judge contradicts itself most, with its labels in every order. */
export function Contradictions({ examples }: { examples: readonly Example[] }) {
  return (
    <>
      {examples.map((example) => {
        const hasGold = example.samples.some(({ gold }) => gold !== null);
        const orders = Math.max(0, ...example.samples.map(({ labels }) => labels.length));
        return (
          <article key={example.group} class="example">
            <h3>Group {example.group + 1}</h3>
            <p>
              <SampleText text={example.prompt} />
            </p>
            <div class="scroll" role="region" aria-label={`Labels of group ${example.group + 1}`} tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">sample</th>
                    {Array.from({ length: orders }, (_, at) => (
                      <th key={at} scope="col">
                        {at === 0 ? "given order" : `order ${at + 1}`}
                      </th>
                    ))}
                    {hasGold ? <th scope="col">gold</th> : null}
                  </tr>
                </thead>
                <tbody>
                  {example.samples.map(({ text, labels, gold }, i) => (
                    <tr key={i}>
                      <td>
                        <SampleText text={text} />
                      </td>
                      {labels.map((label, at) => (
                        <td key={at}>{letter(label)}</td>
                      ))}
                      {hasGold ? <td>{letter(gold)}</td> : null}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </article>
        );
      })}
    </>
  );
}

const letter = (label: number | null): string =>
  label === null ? "unknown" : label < 0 ? "none" : label < 26 ? String.fromCharCode(65 + label) : String(label + 1);
