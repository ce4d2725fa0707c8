/** The training over its steps, the shares of strategies, and where a step's time goes. */

import { areaY, axisX, axisY, barX, pointer, pointerX, ruleX, stackX, text, tip } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { type Curve, Curves } from "../components/Curves";
import { Figure } from "../components/Figure";
import { Key } from "../components/Key";
import { fills, hues, other } from "./registry";
import { Term } from "../components/Term";
import type { TermName } from "../components/glossary";
import { armOf, hidden, type OverSteps, type Shares, type StepTime, toggle } from "./data";
import { percent, plain, seconds } from "../components/format";

interface XAxis {
  readonly label: string;
  readonly name: string;
}

const STEPS: XAxis = { label: "step", name: "step" };

export function Training({ panels, x = STEPS }: { panels: readonly OverSteps[]; x?: XAxis }) {
  const arms = [...new Set(panels.flatMap(({ curves }) => Object.keys(curves)))];
  return (
    <>
      <Key looks={arms.map(armOf)} hidden={hidden.value} onToggle={toggle} />
      <div class="charts">
        {panels.map((panel) => (
          <OverStepsChart key={panel.key} panel={panel} x={panel.x ?? x} />
        ))}
      </div>
    </>
  );
}

interface ChartProps {
  panel: OverSteps;
  x?: XAxis;
  height?: number;
}

export function OverStepsChart({ panel, x: axis = STEPS, height = 220 }: ChartProps) {
  const format = panel.share ? percent : plain;
  const shown = Object.entries(panel.curves).filter(([arm]) => !hidden.value.has(arm));
  const curves: Curve[] = shown.map(([arm, { steps, mean, seeds }]) => ({
    look: armOf(arm),
    points: steps.map((x, at) => ({ x, y: mean[at] ?? NaN })),
    thin: seeds.map((seed) => steps.map((x, at) => ({ x, y: seed[at] ?? NaN }))),
  }));
  const file = panel.key.replaceAll(/[^\w@]+/g, "_");
  return (
    <Figure
      title={panel.label}
      file={file}
      rows={() => {
        const most = Math.max(0, ...Object.values(panel.curves).map(({ seeds }) => seeds.length));
        return [
          ["arm", "step", "mean over seeds", ...Array.from({ length: most }, (_, seed) => `run ${seed + 1}`)],
          ...Object.entries(panel.curves).flatMap(([arm, { steps, mean, seeds }]) =>
            steps.map((step, at) => [
              armOf(arm).label,
              step,
              mean[at] ?? null,
              ...seeds.map((seed) => seed[at] ?? null),
            ]),
          ),
        ];
      }}
    >
      {shown.length > 0 ? (
        <Curves
          curves={curves}
          height={height}
          label={`${panel.label} over the steps: ${curves.map(({ look, points }) => `${look.label} from ${format(points[0]!.y)} to ${format(points.at(-1)!.y)}`).join("; ")}.`}
          x={axis}
          y={{ label: "", format, tick: panel.share ? (value) => `${Number((100 * value).toFixed(1))}%` : String }}
        />
      ) : (
        <p class="note">All arms are hidden.</p>
      )}
    </Figure>
  );
}

export function StrategyShares({ shares }: { shares: Shares }) {
  const names = Object.keys(shares.fills);
  const shown = shares.arms.filter(({ arm }) => !hidden.value.has(arm));
  return (
    <>
      <ul class="shares">
        {names.map((name) => (
          <li key={name}>
            <span class="fill-key" style={{ background: shares.fills[name] }} aria-hidden="true" />
            {name}
          </li>
        ))}
      </ul>
      <div class="charts">
        {shown.map(({ arm, steps, shares: of }) => (
          <Figure
            key={arm}
            title={armOf(arm).label}
            file={`strategy_shares_${arm}`}
            rows={() => [
              ["step", ...names],
              ...steps.map((step, at) => [step, ...names.map((name) => of[name]?.[at] ?? null)]),
            ]}
          >
            <Chart
              height={200}
              label={`Shares of strategies of ${armOf(arm).label} at the last step: ${names.map((name) => `${name} ${percent(of[name]?.at(-1) ?? 0)}`).join(", ")}.`}
              options={() => {
                const rows = names.flatMap((name) =>
                  steps.map((step, at) => ({ name, step, share: of[name]?.[at] ?? 0 })),
                );
                const places = steps.map((step, at) => ({ step, y: 0.5, at }));
                return {
                  marginLeft: 44,
                  marginBottom: 36,
                  y: { domain: [0, 1] },
                  color: { domain: names, range: names.map((name) => shares.fills[name]!) },
                  marks: [
                    areaY(rows, {
                      x: "step",
                      y: "share",
                      fill: "name",
                      order: names,
                      stroke: "var(--paper)",
                      strokeWidth: 0.4,
                    }),
                    axisX({ label: "step →", labelAnchor: "right", ticks: 4, tickFormat: "~d" }),
                    axisY({ label: null, ticks: 4, tickFormat: "%" }),
                    ruleX(places, pointerX({ x: "step", stroke: "var(--ink)", strokeDasharray: "2 2", maxRadius: 80 })),
                    tip(
                      places,
                      pointerX({
                        x: "step",
                        y: "y",
                        maxRadius: 80,
                        fill: "var(--paper)",
                        stroke: "var(--muted)",
                        fontSize: 12,
                        lineWidth: 30,
                        title: ({ step, at }: { step: number; at: number }) =>
                          sharesInWords(
                            step,
                            names.map((name) => [name, of[name]?.[at] ?? 0]),
                          ),
                      }),
                    ),
                  ],
                };
              }}
            />
          </Figure>
        ))}
      </div>
    </>
  );
}

const MOST_NAMED = 8;

/** The shares at a step, the largest first. */
function sharesInWords(step: number, shares: readonly (readonly [string, number])[]): string {
  const used = shares.filter(([, share]) => share >= 0.0005).toSorted(([, a], [, b]) => b - a);
  const more = used.length > MOST_NAMED ? [`and ${used.length - MOST_NAMED} more`] : [];
  return [
    `step ${step}`,
    ...used.slice(0, MOST_NAMED).map(([name, share]) => `${name} ${percent(share)}`),
    ...more,
  ].join("\n");
}

const PARTS: Readonly<Record<string, readonly [string, TermName | null]>> = {
  generation: [fills[0]!, "generation"],
  verification: [fills[1]!, "verification"],
  judging: [fills[5]!, "judging"],
  credit: [hues.vermilion, "creditTime"],
  update: [fills[2]!, "update"],
  rest: [other, null],
};
const SPARE = [fills[3]!, fills[7]!, fills[4]!, fills[6]!];

export function TimeOfAStep({ arms }: { arms: readonly StepTime[] }) {
  const names = [...new Set(arms.flatMap(({ parts }) => Object.keys(parts)))];
  const unknown = names.filter((name) => !(name in PARTS));
  const fill = (name: string): string => PARTS[name]?.[0] ?? SPARE[unknown.indexOf(name) % SPARE.length]!;
  const ordered = [...names.filter((name) => name !== "rest"), "rest"];
  const rows = arms.flatMap(({ arm, parts, step }) =>
    ordered.map((name) => ({ arm: armOf(arm).label, name, value: parts[name] ?? 0, share: (parts[name] ?? 0) / step })),
  );
  type Part = (typeof rows)[number];
  return (
    <>
      <ul class="shares">
        {ordered.map((name) => (
          <li key={name}>
            <span class="fill-key" style={{ background: fill(name) }} aria-hidden="true" />
            {PARTS[name]?.[1] ? <Term name={PARTS[name]![1]!}>{name}</Term> : name}
          </li>
        ))}
      </ul>
      <Figure
        title="Seconds of a step"
        file="time_of_a_step"
        rows={() => [
          ["arm", "part", "seconds", "share of the step"],
          ...rows.map(({ arm, name, value, share }) => [arm, name, value, share]),
        ]}
      >
        <Chart
          height={60 + 34 * arms.length}
          label={`Seconds of a step: ${arms
            .map(
              ({ arm, step, parts }) =>
                `${armOf(arm).label} ${seconds(step)}, of which ${Object.entries(parts)
                  .map(([name, value]) => `${name} ${percent(value / step)}`)
                  .join(", ")}`,
            )
            .join("; ")}.`}
          options={(width) => ({
            marginLeft: Math.min(150, width / 3),
            marginRight: 60,
            marginBottom: 36,
            y: { label: null, domain: arms.map(({ arm }) => armOf(arm).label) },
            color: { domain: ordered, range: ordered.map(fill) },
            marks: [
              barX(rows, {
                x: "value",
                y: "arm",
                fill: "name",
                order: ordered,
                stroke: "var(--paper)",
                strokeWidth: 0.6,
              }),
              text(arms, {
                x: "step",
                y: ({ arm }: StepTime) => armOf(arm).label,
                text: ({ step }: StepTime) => seconds(step),
                dx: 6,
                textAnchor: "start",
                fill: "var(--ink)",
              }),
              axisX({
                label: "seconds, mean over steps and seeds →",
                labelAnchor: "right",
                ticks: Math.max(3, width / 120),
              }),
              axisY({ label: null, tickSize: 0 }),
              tip(
                rows,
                pointer(
                  stackX({
                    x: "value",
                    y: "arm",
                    order: ordered,
                    z: "name",
                    title: ({ arm, name, value, share }: Part) =>
                      `${arm}: ${name}\n${seconds(value)}, ${percent(share)} of the step`,
                    fill: "var(--paper)",
                    stroke: "var(--muted)",
                    fontSize: 12,
                    lineWidth: 30,
                  }),
                ),
              ),
            ],
          })}
        />
      </Figure>
    </>
  );
}
