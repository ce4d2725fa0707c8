/** The playground: a few samples that are changed by hand, and what every method credits them with. */

import "../style.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { FoldedPanel } from "../components/Controls";
import { Term, Tip } from "../components/Term";
import { Bonus } from "./Bonus";
import { Collapse, SAMPLES, SET_SIZE } from "./Collapse";
import { Copies } from "./Copies";
import { Group } from "./Group";
import { Parts } from "./Parts";
import { PassAtK } from "./PassAtK";
import { QuadrantTable } from "./Quadrants";
import { SetScores } from "./SetScores";
import { pythonOf } from "./python";
import { Presets, Settings } from "./Settings";
import { decode, encode, group, state } from "./state";
import { Story } from "./Story";
import { WaterFilling } from "./WaterFilling";

const PARTS = [
  ["story", "Story"],
  ["credit", "Credit"],
  ["sets", "Sets"],
  ["parts", "Parts"],
  ["bonus", "Bonus"],
  ["collapse", "Collapse"],
  ["water", "Water line"],
  ["pass", "pass@k"],
] as const;

function Playground() {
  return (
    <main>
      <header>
        <p class="kind">setrl playground</p>
        <h1>Who gets credit, and why</h1>
        <p class="lead">
          A model answers one prompt several times. Training gives each <Term name="sample">sample</Term> an{" "}
          <Term name="advantage">advantage</Term>. Change the <Term name="reward">rewards</Term> and the{" "}
          <Term name="strategy">strategies</Term> below, and compare the methods. Words with a dotted line explain
          themselves.
        </p>
        <nav aria-label="Parts of this page">
          {PARTS.map(([id, title]) => (
            <a key={id} href={`#${id}`} onClick={jump}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <Story />
      <FoldedPanel
        id="credit"
        title="One group of samples, six ways to credit it"
        lead="Bars to the right make a sample more likely, bars to the left less likely. A “!” marks credit that goes against correctness."
      >
        <Presets />
        <Settings />
        <Group />
        <h3 id="sets">The score of every set</h3>
        <SetScores />
        <h3>Credit that goes against correctness</h3>
        <QuadrantTable />
        <CopiesOfGroup />
        <p class="small">
          <code>setrl audit my_trainer:my_advantages</code> says which objective an advantage of your own follows, how
          biased and noisy it is, and what it pays.
        </p>
      </FoldedPanel>
      <FoldedPanel
        id="parts"
        title="Where the credit of Poly-EPO comes from"
        lead={
          <>
            <Term name="eq15">Equation 15</Term> splits the advantage into three parts: the sample's sets are more often
            correct, they are more varied, or they are both at once.
          </>
        }
      >
        <Parts />
      </FoldedPanel>
      <FoldedPanel
        id="bonus"
        title="What a diversity bonus pays: reward shaping"
        lead="A wrong sample gains if λ·d is above p + λ·(mean d), the mean of its group. Here mean d is 1/8."
      >
        <Bonus />
      </FoldedPanel>
      <FoldedPanel
        id="collapse"
        title="What training does with it: collapse or balance"
        lead={
          <>
            Several strategies solve the same problem, some more reliably. Each method draws {SAMPLES} samples a step
            (sets of {SET_SIZE}) and moves its <Term name="share">shares</Term>; shown is the exact mean step, without
            luck. The credit of all methods has the same spread before training, so that their speeds compare. Watch for{" "}
            <Term name="collapse">collapse</Term>.
          </>
        }
      >
        <Collapse />
      </FoldedPanel>
      <FoldedPanel
        id="water"
        title="Which strategies survive: water-filling"
        lead="Training on (1 − α)·mean reward + α·polychromic score of sets of two ends at these shares. Strategies that succeed less often than the water line disappear."
      >
        <WaterFilling />
      </FoldedPanel>
      <FoldedPanel
        id="pass"
        title="Why variety matters: pass@k of two portfolios"
        lead="A broad portfolio of strategies that succeed rarely, against a narrow one of strategies that succeed often."
      >
        <PassAtK />
      </FoldedPanel>
      <footer>
        <p>
          Everything is computed in this page, which sends nothing to anybody. Its numbers are tested against the Python
          library setrl to 1e-12.
        </p>
      </footer>
      <Tip />
    </main>
  );
}

const CopiesOfGroup = () => <Copies code={pythonOf(group.value)} />;

/** The part of the address after # holds the state, so a jump to a section must not replace it. */
function jump(event: MouseEvent): void {
  event.preventDefault();
  const target = document.querySelector((event.currentTarget as HTMLAnchorElement).hash);
  target?.closest("details")?.setAttribute("open", "");
  target?.querySelector("details")?.setAttribute("open", "");
  target?.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

/** Some programs write < and others as %3C into an address; what is no such code stays as it is. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const fromAddress = (): void => {
  const text = plain(location.hash.slice(1));
  if (text !== encode(state.value)) state.value = decode(text);
};

fromAddress();
addEventListener("hashchange", fromAddress);
let waiting: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const text = encode(state.value);
  clearTimeout(waiting);
  // Browsers limit how often an address may change, and a slider moves faster than that.
  waiting = setTimeout(
    () => history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search),
    150,
  );
});

/** A page that embeds one panel asks for it by its id: playground.html?only=story. */
function only(panel: string | null): void {
  if (panel === null || !document.getElementById(panel)?.matches("main > section")) return;
  document.querySelector("main")!.style.padding = "0";
  document.querySelector(`#${panel} > details`)?.setAttribute("open", "");
  for (const part of document.querySelectorAll<HTMLElement>("main > :is(header, section, footer)")) {
    part.hidden = part.id !== panel;
  }
  // The embedding page makes room for the panel, and never takes it back: what plays must not move that page.
  let [width, height] = [0, 0];
  new ResizeObserver(() => {
    height = Math.max(width === innerWidth ? height : 0, document.body.scrollHeight);
    width = innerWidth;
    parent.postMessage({ height }, "*");
  }).observe(document.body);
}

render(<Playground />, document.getElementById("page")!);
only(new URLSearchParams(location.search).get("only"));
