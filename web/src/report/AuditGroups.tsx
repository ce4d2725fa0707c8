/** One measure of an audit: the value of every group, and the means with intervals. */

import { axisX, axisY, dot, pointer, ruleX, tip } from "@observablehq/plot";
import { AGAINST, type Found, interval, MEASURES, SHORT } from "./audited";
import { Chart } from "../components/Chart";
import { Figure } from "../components/Figure";
import { hues } from "./registry";
import { visible } from "../components/visible";

const HUES = [hues.blue, hues.vermilion, hues.green];
const SYMBOLS = ["circle", "square", "triangle"] as const;

interface Dot {
  readonly group: number;
  readonly value: number;
  readonly from: string;
}

export function AuditGroups({ found, measure }: { found: Found; measure: string }) {
  const comparisons = Object.keys(found.by_group!).filter((name) => found.by_group![name]![measure]);
  const all = comparisons.flatMap((from) =>
    found.by_group![from]![measure]!.map((value, group) => ({ from, group, value })),
  );
  const dots = all.filter((one): one is Dot => one.value !== null);
  const means = comparisons.map((from) => ({ from, one: found.agreement[from]?.[measure] }));
  const lane = (from: string): number => comparisons.indexOf(from);
  const spread = ({ group, from }: Dot): number =>
    lane(from) + 0.6 * ((group + 0.5) / Math.max(found.groups ?? 1, 1) - 0.5);
  const words = ({ group, value, from }: Dot): string => {
    const prompt = visible(found.prompts?.[group] ?? "");
    return `group ${group + 1}, against ${SHORT[from] ?? from}: ${value.toFixed(3)}${prompt ? `\n${prompt.slice(0, 80)}` : ""}`;
  };
  const [title, meaning] = MEASURES[measure]!;
  const spoken = means.map(({ from, one }) => `against ${AGAINST[from] ?? from} ${interval(one)}`).join("; ");
  return (
    <>
      <Figure
        title={`${title}: every group, and the mean`}
        file={`judge_${measure}`}
        rows={() => [
          ["compared with", "group", measure],
          ...all.map(({ from, group, value }) => [from, group + 1, value]),
        ]}
      >
        <Chart
          height={70 + 62 * comparisons.length}
          label={`${title} of ${found.groups ?? dots.length} groups: ${spoken}.`}
          options={() => ({
            marginLeft: 64,
            marginBottom: 36,
            inset: 8,
            x: { nice: true },
            y: { domain: [comparisons.length - 0.5, -0.5] },
            marks: [
              ...comparisons.map((from, at) =>
                dot(
                  dots.filter((one) => one.from === from),
                  { x: "value", y: spread, fill: HUES[at % 3]!, symbol: SYMBOLS[at % 3]!, r: 3.5, fillOpacity: 0.65 },
                ),
              ),
              ...means.flatMap(({ from, one }) =>
                one?.value == null
                  ? []
                  : [
                      ...(one.low == null || one.high == null
                        ? []
                        : [
                            dot([one], { x: "low", y: lane(from), symbol: "plus", stroke: "var(--ink)", r: 4 }),
                            dot([one], { x: "high", y: lane(from), symbol: "plus", stroke: "var(--ink)", r: 4 }),
                          ]),
                      ruleX([one], {
                        x: "value",
                        y1: lane(from) - 0.36,
                        y2: lane(from) + 0.36,
                        stroke: "var(--ink)",
                        strokeWidth: 2,
                      }),
                    ],
              ),
              axisX({ label: `${title} →`, labelAnchor: "right", ticks: 6 }),
              axisY({
                label: null,
                tickSize: 0,
                ticks: comparisons.map((_, at) => at),
                tickFormat: (at: number) => SHORT[comparisons[at] ?? ""] ?? comparisons[at] ?? "",
              }),
              tip(
                dots,
                pointer({
                  x: "value",
                  y: spread,
                  title: words,
                  fill: "var(--paper)",
                  stroke: "var(--muted)",
                  fontSize: 12,
                  lineWidth: 34,
                }),
              ),
            ],
          })}
        />
      </Figure>
      <p class="small">{meaning} A dot is a group; the line is the mean, the crosses are the ends of its interval.</p>
    </>
  );
}
