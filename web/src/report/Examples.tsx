/** "Show me": problems that one arm alone solved. */

import { useState } from "preact/hooks";
import { Segments } from "../components/Controls";
import { SampleText } from "./SampleText";
import { armOf, type ByArm, type Solved } from "./data";
import { percent } from "../components/format";

export function SolvedByOne({ all }: { all: readonly Solved[] }) {
  const [chosen, choose] = useState(all[0]!.split);
  const found = all.find(({ split }) => split === chosen)!;
  return (
    <>
      {all.length > 1 ? (
        <div class="below">
          <Segments
            label="Split"
            value={chosen}
            options={all.map(({ split }) => [split, `${split} problems`] as const)}
            onChange={choose}
          />
        </div>
      ) : null}
      <p class="note">{summary(found)}</p>
      <div class="examples">
        {found.examples.map((example) => (
          <article class="example" key={example.prompt}>
            <h3>
              <SampleText text={example.prompt} />
            </h3>
            <Rates rates={example.rates} />
            <p>
              {example.correct.toLocaleString("en")} correct {example.correct === 1 ? "sample" : "samples"} of{" "}
              {armOf(example.winner).label}
              {example.samples.length === 0
                ? "; the log has no texts."
                : example.samples.length < example.correct
                  ? `, ${example.samples.length} of them:`
                  : ":"}
            </p>
            <ul class="samples-shown">
              {example.samples.map(({ text, strategy, seed }, at) => (
                <li key={at}>
                  {text === null ? <em>The text of this sample was not kept.</em> : <SampleText text={text} />}
                  <small>
                    {[strategy === null ? "" : `strategy ${strategy}`, seed === null ? "" : `seed ${seed}`]
                      .filter(Boolean)
                      .join(", ")}
                  </small>
                </li>
              ))}
            </ul>
          </article>
        ))}
      </div>
    </>
  );
}

function summary({ problems, alone, unsolved, numbers, examples }: Solved): string {
  const none = unsolved ? ` ${unsolved} of ${problems} were solved by none.` : "";
  if (alone > 0) {
    const who = Object.entries(numbers)
      .filter(([, number]) => number > 0)
      .map(([arm, number]) => `${armOf(arm).label} ${number}`)
      .join(", ");
    return `${alone} of ${problems} problems were solved by one arm alone (in any of its samples): ${who}.${none}`;
  }
  const most =
    examples.length > 0 ? " Shown are the problems on which their shares of correct samples differ most." : "";
  return `None of the ${problems} problems was solved by one arm alone: with all samples together, either several arms solved it or none.${none}${most}`;
}

function Rates({ rates }: { rates: ByArm<number> }) {
  return (
    <ul class="rates" aria-label="Share of correct samples">
      {Object.entries(rates).map(([arm, rate]) => (
        <li key={arm}>
          <span>{armOf(arm).label}</span>
          <span class="meter" aria-hidden="true">
            <span style={{ width: `${100 * rate}%`, background: armOf(arm).hue }} />
          </span>
          <span>{percent(rate)}</span>
        </li>
      ))}
    </ul>
  );
}
