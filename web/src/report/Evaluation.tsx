/** pass@k and its relatives: the value of every arm, and the paired difference to the reference. */

import { useState } from "preact/hooks";
import { type Curve, Curves } from "../components/Curves";
import { Segments } from "../components/Controls";
import { Figure } from "../components/Figure";
import { Key } from "../components/Key";
import { Term } from "../components/Term";
import type { TermName } from "../components/glossary";
import { armOf, type BandRow, type ByArm, hidden, type OverK, type Row, type Split, toggle } from "./data";
import { difference, percent, plain, points } from "../components/format";

const NAMES: Readonly<Record<string, readonly [string, TermName]>> = {
  pass: ["pass@k", "passAtK"],
  majority: ["majority@k", "majorityVote"],
  vote_share: ["vote share@k", "voteShare"],
  correct_strategies: ["correct strategies@k", "correctStrategies"],
};

export function Evaluation({ split }: { split: Split }) {
  const [chosen, choose] = useState(split.metrics[0]?.name ?? "");
  const metric = split.metrics.find(({ name }) => name === chosen);
  if (!metric) return null;
  const [title, term] = NAMES[metric.name]!;
  const arms = [...new Set([...Object.keys(metric.values), ...Object.keys(metric.differences)])];
  const against = split.reference ? armOf(split.reference).label : "";
  return (
    <>
      {split.metrics.length > 1 ? (
        <div class="below">
          <Segments
            label={`Metric of the ${split.split} split`}
            value={chosen}
            options={split.metrics.map(({ name }) => [name, NAMES[name]![0]] as const)}
            onChange={choose}
          />
        </div>
      ) : null}
      <Key looks={arms.map(armOf)} hidden={hidden.value} onToggle={toggle} />
      <div class="charts two">
        <Plot
          metric={metric}
          rows={metric.values}
          bands={metric.bands}
          file={`${metric.name}_at_k_${split.split}`}
          title={
            <>
              <Term name={term}>{title}</Term>, {split.split} problems
            </>
          }
          spoken={`${title} on ${split.split} problems`}
          y={
            metric.share
              ? { label: title, format: percent, tick: percent0 }
              : { label: title, format: plain, tick: String }
          }
          share={metric.share}
        />
        {Object.keys(metric.differences).length > 0 ? (
          <Plot
            metric={metric}
            rows={metric.differences}
            bands={metric.difference_bands}
            file={`${metric.name}_at_k_${split.split}_difference`}
            title={
              <>
                <Term name="paired">Paired difference</Term> to {against}
              </>
            }
            spoken={`Paired difference of ${title} to ${against} on ${split.split} problems`}
            y={
              metric.share
                ? { label: "points", format: points, tick: (value: number) => points(value).replace(".0", "") }
                : {
                    label: "difference",
                    format: difference,
                    tick: (value: number) => difference(value).replace(/\.?0+$/, "") || "0",
                  }
            }
            zero
          />
        ) : null}
      </div>
    </>
  );
}

const percent0 = (value: number): string => percent(value).replace(".0%", "%");

interface PlotProps {
  metric: OverK;
  rows: ByArm<readonly Row[]>;
  bands: ByArm<readonly BandRow[]>;
  file: string;
  title: preact.ComponentChildren;
  spoken: string;
  y: { label: string; format: (value: number) => string; tick: (value: number) => string };
  zero?: boolean;
  share?: boolean;
}

function Plot({ rows, bands, file, title, spoken, y, zero = false, share = false }: PlotProps) {
  const shown = Object.entries(rows).filter(([arm]) => !hidden.value.has(arm));
  const curves: Curve[] = shown.map(([arm, of]) => {
    const last = of.at(-1)?.[0] ?? 0;
    return {
      look: armOf(arm),
      points: of.map(([x, value, low, high]) => ({ x, y: value, low, high })),
      band: (bands[arm] ?? []).filter(([k]) => k <= last).map(([x, low, high]) => ({ x, low, high })),
    };
  });
  const ks = [...new Set(Object.values(rows).flatMap((of) => of.map(([k]) => k)))].sort((a, b) => a - b);
  const ends = curves.flatMap(({ points, band = [] }) => [
    ...points.flatMap(({ y: value, low, high }) => [value, low ?? value, high ?? value]),
    ...band.flatMap(({ low, high }) => [low ?? high ?? 0, high ?? low ?? 0]),
  ]);
  return (
    <Figure
      title={title}
      file={file}
      rows={() => [
        ["arm", "k", "value", "low", "high", "low for all k", "high for all k"],
        ...Object.entries(rows).flatMap(([arm, of]) =>
          of.map(([k, value, low, high]) => {
            const band = bands[arm]?.find(([at]) => at === k);
            return [armOf(arm).label, k, value, low ?? null, high ?? null, band?.[1] ?? null, band?.[2] ?? null];
          }),
        ),
      ]}
    >
      {shown.length > 0 ? (
        <Curves
          curves={curves}
          label={`${spoken}: ${curves
            .map(
              ({ look, points: at }) =>
                `${look.label} ${at
                  .filter((_, i) => i === 0 || i === at.length - 1)
                  .map((p) => `${y.format(p.y)} at k = ${p.x}`)
                  .join(", ")}`,
            )
            .join("; ")}.`}
          x={{ label: "k, tries", name: "k =", isLog: true, ticks: ks }}
          y={{ ...y, domain: share ? [Math.max(0, Math.min(...ends)), Math.min(1, Math.max(...ends))] : undefined }}
          zero={zero}
          dots
        />
      ) : (
        <p class="note">All arms are hidden.</p>
      )}
    </Figure>
  );
}
