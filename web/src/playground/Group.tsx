/** The samples as rows: what they are, and what each method credits them with. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { SignedBar } from "../components/SignedBar";
import { LETTERS, strategyName, Swatch } from "../components/Swatch";
import { Term } from "../components/Term";
import { DEGENERATE, isCorrect } from "../maths";
import { type Column, pointed, results } from "./results";
import { change, FEWEST, group, MOST, parts, type Sample } from "./state";

const bars = parts("oneScale");

const replace = (at: number, part: Partial<Sample>): void =>
  change({ samples: group.peek().samples.map((sample, i) => (i === at ? { ...sample, ...part } : sample)) });

/** The sample whose name was pressed: pressing it again puts the lights out. */
const chosen = signal<number | null>(null);

/** A → B → … → H → degenerate → A. */
const following = (strategy: number): number =>
  strategy === DEGENERATE ? 0 : strategy + 1 < LETTERS.length ? strategy + 1 : DEGENERATE;

export function Group() {
  const { columns } = results.value;
  const { samples } = group.value;
  const { oneScale } = bars.value;
  const peaks = columns.map(({ values }) => Math.max(...values.map(Math.abs)));
  const peak = Math.max(...peaks);
  return (
    <div class="scroll">
      <table class="group">
        <caption class="hidden">Samples, and the advantage that each method gives them</caption>
        <thead>
          <tr>
            <Head>
              <Term name="sample">Sample</Term>
            </Head>
            <Head>
              <Term name="reward">Reward</Term>
            </Head>
            <Head>
              <Term name="strategy">Strategy</Term>
            </Head>
            {columns.map(({ key, title, term }) => (
              <Head key={key} kind={`method ${key}`}>
                <Term name={term}>{title}</Term>
              </Head>
            ))}
          </tr>
        </thead>
        <tbody>
          {samples.map((sample, i) => (
            <Row key={i} i={i} sample={sample} columns={columns} peaks={oneScale ? peaks.map(() => peak) : peaks} />
          ))}
        </tbody>
      </table>
      <AddAndRemove />
    </div>
  );
}

const Head = ({ children, kind }: { children: ComponentChildren; kind?: string }) => (
  <th scope="col" class={kind}>
    {children}
  </th>
);

interface RowProps {
  i: number;
  sample: Sample;
  columns: readonly Column[];
  peaks: readonly number[];
}

function Row({ i, sample, columns, peaks }: RowProps) {
  const correct = isCorrect(sample.reward);
  const point = () => {
    pointed.value = i;
  };
  const again = () => {
    pointed.value = pointed.value === i && chosen.value === i ? null : i;
    chosen.value = pointed.value;
  };
  return (
    <tr class={pointed.value === i ? "pointed" : undefined} onMouseEnter={point} onFocusIn={point}>
      <th scope="row">
        <button
          type="button"
          class="name"
          aria-label={`y${i + 1}: light up its sets`}
          aria-pressed={pointed.value === i}
          onClick={again}
        >
          y{i + 1}
        </button>
      </th>
      <td>
        <Reward i={i} sample={sample} />
      </td>
      <td>
        <button
          type="button"
          class="strategy"
          aria-label={`y${i + 1} uses ${strategyName(sample.strategy)}: change to ${strategyName(following(sample.strategy))}`}
          onClick={() => replace(i, { strategy: following(sample.strategy) })}
        >
          <Swatch strategy={sample.strategy} />
        </button>
      </td>
      {columns.map(({ key, title, values }, at) => (
        <td key={key} class={`method ${key}`} data-method={title} data-value={values[i]}>
          <SignedBar value={values[i]!} largest={peaks[at]!} against={against(correct, values[i]!)} />
        </td>
      ))}
    </tr>
  );
}

/** Why a credit goes against correctness; undefined where it does not. */
function against(correct: boolean, value: number): string | undefined {
  if (correct && value < 0) return "correct, and made less likely";
  if (!correct && value > 0) return "wrong, and made more likely";
  return undefined;
}

function Reward({ i, sample }: { i: number; sample: Sample }) {
  const correct = isCorrect(sample.reward);
  if (group.value.graded)
    return (
      <input
        type="number"
        class="grade"
        aria-label={`Reward of y${i + 1}, from 0 to 1`}
        min={0}
        max={1}
        step={0.1}
        value={sample.reward}
        onChange={(event) => {
          const value = event.currentTarget.valueAsNumber;
          replace(i, { reward: Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : sample.reward });
        }}
      />
    );
  return (
    <button
      type="button"
      class={correct ? "verdict right" : "verdict wrong"}
      aria-label={`y${i + 1} is ${correct ? "right" : "wrong"}: change to ${correct ? "wrong" : "right"}`}
      onClick={() => replace(i, { reward: correct ? 0 : 1 })}
    >
      {correct ? "✓ right" : "✗ wrong"}
    </button>
  );
}

function AddAndRemove() {
  const { samples, graded } = group.value;
  const { oneScale } = bars.value;
  return (
    <div class="below">
      <button
        type="button"
        disabled={samples.length >= MOST}
        onClick={() => change({ samples: [...samples, { reward: 1, strategy: 0 }] })}
      >
        + add a sample
      </button>
      <button
        type="button"
        disabled={samples.length <= FEWEST}
        onClick={() => change({ samples: samples.slice(0, -1) })}
      >
        − remove the last
      </button>
      <label>
        <input
          type="checkbox"
          checked={graded}
          onChange={(event) => {
            const on = event.currentTarget.checked;
            const rounded = samples.map((sample) => ({ ...sample, reward: isCorrect(sample.reward) ? 1 : 0 }));
            change({ graded: on, samples: on ? samples : rounded });
          }}
        />
        graded rewards, 0 to 1
      </label>
      <label>
        <input
          type="checkbox"
          checked={oneScale}
          onChange={(event) => change({ oneScale: event.currentTarget.checked })}
        />
        one scale for all methods
      </label>
    </div>
  );
}
