/** "Show me": problems that one arm alone solved, and credit against correctness. */

import { useState } from "preact/hooks";
import { Segments } from "../components/Controls";
import { SampleText } from "../components/SampleText";
import { signed } from "../components/SignedBar";
import { Term } from "../components/Term";
import { armOf, type ByArm, type Credit, type OddCredit, type Solved } from "./data";
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

export function WorstCredit({ all }: { all: readonly Credit[] }) {
  const most = all.reduce((a, b) => (b.wrong_up + b.right_down > a.wrong_up + a.right_down ? b : a));
  const [chosen, choose] = useState(most.arm);
  const found = all.find(({ arm }) => arm === chosen)!;
  const share = (number: number): string => percent(number / found.samples);
  return (
    <>
      <div class="below">
        <Segments
          label="Arm"
          value={chosen}
          options={all.map(({ arm }) => [arm, armOf(arm).label] as const)}
          onChange={choose}
        />
      </div>
      <p class="note">
        In {found.groups.toLocaleString("en")} recorded groups with {found.samples.toLocaleString("en")} samples,{" "}
        {armOf(chosen).label} made {found.wrong_up.toLocaleString("en")} wrong samples more likely (
        {share(found.wrong_up)}) and {found.right_down.toLocaleString("en")} correct samples less likely (
        {share(found.right_down)}).{" "}
        {found.examples.length > 0
          ? "Credit is relative to the group: a correct sample is made less likely where others do more for their sets, such as samples of a rarer strategy. Shown are the largest such advantages, one for each prompt."
          : "No advantage went against correctness."}
      </p>
      <div class="examples">
        {found.examples.map((example, at) => (
          <article class="example" key={at}>
            <h3>
              {example.kind === "wrong_up" ? "Wrong, but more likely: " : "Correct, but less likely: "}
              <Term name="advantage">advantage</Term> {signed(example.advantage)}
            </h3>
            <p class="prompt">
              <SampleText text={example.prompt} />
            </p>
            <blockquote>
              <SampleText text={example.text} />
            </blockquote>
            {example.why_wrong ? (
              <p>
                Wrong, because <SampleText text={example.why_wrong} />.
              </p>
            ) : null}
            <p>{why(example, armOf(chosen).label)}</p>
            <small>
              step {example.step}, seed {example.seed}
              {example.strategy === null ? (
                ""
              ) : (
                <>
                  , strategy <SampleText text={example.strategy} />
                </>
              )}
            </small>
          </article>
        ))}
      </div>
    </>
  );
}

/** What the group was like: only what was logged. */
function why({ samples, correct, same_strategy, degenerate, others }: OddCredit, own: string): string {
  const parts = [`${correct} of the ${samples} samples of this prompt are correct`];
  if (degenerate) parts.push("this one has no readable strategy");
  else if (same_strategy === 1) parts.push("no other one uses its strategy");
  else if (same_strategy !== null) parts.push(`${same_strategy} use its strategy`);
  const methods = Object.entries(others)
    .filter(([name]) => name !== own)
    .map(([name, value]) => `${name} ${signed(value)}`);
  return `${parts.join("; ")}.${methods.length > 0 ? ` Other methods would have given: ${methods.join(", ")}.` : ""}`;
}
