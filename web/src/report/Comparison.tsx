/** The report of language models: the verdict in words, what it rests on, then examples to look at. */

import { Panel } from "../components/Controls";
import { Key } from "../components/Key";
import { Term } from "../components/Term";
import type { TermName } from "../components/glossary";
import { armOf, type Comparison, hidden, type Split, toggle } from "./data";
import { Evaluation } from "./Evaluation";
import { SolvedByOne } from "./Examples";
import { Explained } from "./Explained";
import { FrontierCharts, StrategyFront } from "./Frontiers";
import { OverStepsChart, StrategyShares, TimeOfAStep, Training } from "./Training";

const SAID_FIRST = 4; // sentences: who solves more, what it costs, and what the base solves

/** The metrics that show a collapse, the most telling first. */
const COLLAPSE = ["strategies/correct_per_prompt", "strategies/top_share", "strategies/per_prompt"];

/** The first split's chart of success and strategies; none where fewer than two arms have both. */
const frontOf = ({ frontiers }: Comparison) =>
  frontiers.find(
    (one) => one && Object.values(one.points).filter((of) => of[`correct_strategies@${one.k}`]).length > 1,
  );

/** The two pictures that the verdict rests on: what is lost in training, and what is left at the end. */
function Argument({ data }: { data: Comparison }) {
  const lost = COLLAPSE.flatMap((name) => data.training.find(({ key }) => key === name) ?? [])[0];
  const front = frontOf(data);
  if (!lost && !front) return null;
  return (
    <Panel
      id="argument"
      title={lost ? "What training kept, and what it lost" : "Success, and how many ways to it"}
      lead={
        <>
          {lost ? "Over the steps: what the samples of a prompt still hold. " : ""}
          {front ? (
            <>
              {lost ? "At the end: success" : "Success"} with one try against correct{" "}
              <Term name="strategy">strategies</Term>; up and to the right is better.
            </>
          ) : null}
        </>
      }
    >
      {lost ? <Key looks={Object.keys(lost.curves).map(armOf)} hidden={hidden.value} onToggle={toggle} /> : null}
      <div class="charts two">
        {lost ? <OverStepsChart panel={lost} height={280} /> : null}
        {front ? <StrategyFront frontier={front} /> : null}
      </div>
    </Panel>
  );
}

export function ComparisonPage({ data }: { data: Comparison }) {
  const known = new Set<TermName>();
  const whole = <Whole letters={data.letters} views={data.views} />;
  const level = `${Math.round(100 * data.level)}%`;
  return (
    <>
      <header>
        <p class="kind">setrl report</p>
        <h1>{data.name}</h1>
        {data.verdict.length > 0 ? (
          <div class="in-words">
            {data.verdict.slice(0, SAID_FIRST).map((text) => (
              <p key={text}>
                <Explained text={text} known={known} />
              </p>
            ))}
          </div>
        ) : (
          <p class="note">Nothing has been evaluated yet: this run has no evaluation of a finished arm.</p>
        )}
        {data.verdict.length > SAID_FIRST ? (
          <details>
            <summary>More</summary>
            {data.verdict.slice(SAID_FIRST).map((text) => (
              <p key={text}>
                <Explained text={text} known={known} />
              </p>
            ))}
            <p class="note">
              “More” and “fewer” are used only where the {level} interval of the <Term name="paired">paired</Term>{" "}
              difference excludes 0.
            </p>
          </details>
        ) : null}
      </header>
      <Argument data={data} />
      {data.splits.length > 0 ? <Splits data={data} level={level} /> : null}
      {data.solved.length > 0 ? (
        <Panel
          id="solved"
          title="Show me: what one arm solves and another does not"
          lead={<>Problems, and correct samples of the arm that solves them. {whole}</>}
        >
          <SolvedByOne all={data.solved} />
        </Panel>
      ) : null}
      {data.training.length + data.constant.length > 0 ? (
        <Panel id="training" title="Training" lead={lead(data)}>
          <Training panels={data.training} />
          {data.shares.map((shares, at) => (
            <div key={at}>
              <h3>
                Which <Term name="strategy">strategies</Term> are used
              </h3>
              <p class="note">
                Share of all samples of a step; blank: samples whose strategy cannot be read. Mean over seeds.
              </p>
              <StrategyShares shares={shares} />
            </div>
          ))}
        </Panel>
      ) : null}
      {data.time ? (
        <Panel id="time" title="Where the time goes" lead={`${data.time.headline}.`}>
          <TimeOfAStep arms={data.time.arms} />
        </Panel>
      ) : null}
    </>
  );
}

/** What the lines of the training show, and which metrics have none. */
function lead({ smoothing, constant }: Comparison): string {
  const rolling = smoothing > 1 ? ` All lines are rolling means over ${smoothing} steps.` : "";
  const flat = constant.length ? ` These never changed: ${constant.join(", ")}.` : "";
  return `Thick lines: mean over seeds; thin lines: each seed.${rolling}${flat}`;
}

/** Where a reader finds the texts that the page cuts. */
function Whole({ letters, views }: { letters: number; views: readonly string[] }) {
  if (views.length === 0) return null;
  return (
    <>
      Texts end after {letters} letters:{" "}
      {views.map((view, at) => (
        <span key={view}>
          {at > 0 ? ", " : ""}
          <code>{view}</code>
        </span>
      ))}{" "}
      {views.length > 1 ? "show" : "shows"} all of them.
    </>
  );
}

function Splits({ data, level }: { data: Comparison; level: string }) {
  return (
    <Panel
      id="pass"
      title="How many problems are solved in k tries"
      lead={
        <>
          Bands: {level} <Term name="interval">intervals</Term> for one k; dotted lines hold{" "}
          <Term name="band">for all k at once</Term>. Beyond half of the samples, few sets of k are independent. Point
          at a curve to read its values.
        </>
      }
    >
      {data.splits.map((split: Split, at) => (
        <div key={split.split} class="split">
          <h3>{split.title}</h3>
          <Evaluation split={split} />
          {data.frontiers[at] && Object.keys(data.frontiers[at].points).length > 1 ? (
            <details class="plots">
              <summary>Success against diversity on {split.split} problems</summary>
              <p class="note">
                On the <Term name="frontier">frontier</Term> are the arms that no other arm beats in both. Bars:
                intervals.
              </p>
              <FrontierCharts frontier={data.frontiers[at]} isAbove={data.frontiers[at] === frontOf(data)} />
            </details>
          ) : null}
        </div>
      ))}
    </Panel>
  );
}
