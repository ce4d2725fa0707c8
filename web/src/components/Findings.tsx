/** What an audit of a judge found: every group's value, means with intervals, and the worst groups. */

import { axisX, axisY, dot, pointer, ruleX, tip } from "@observablehq/plot";
import { useState } from "preact/hooks";
import { hues } from "./registry";
import { Chart } from "./Chart";
import { Choice } from "./Controls";
import { Figure } from "./Figure";
import { SampleText } from "./SampleText";
import { visible } from "./visible";

export interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly groups: number;
}

/** What `setrl judge-audit` writes into audit.json. */
export interface Found {
  readonly judge?: string;
  readonly file?: string;
  readonly method?: string;
  readonly set_size?: number;
  readonly groups?: number;
  readonly orders?: number;
  readonly judgements_unknown?: number;
  readonly clusters?: Estimate;
  readonly agreement: Readonly<Record<string, Readonly<Record<string, Estimate>>>>;
  /** Comparison → measure → a value for each group; older files lack it. */
  readonly by_group?: Readonly<Record<string, Readonly<Record<string, readonly (number | null)[]>>>>;
  readonly prompts?: readonly string[];
  readonly examples?: readonly Example[];
}

/** A group on which the judge contradicts itself: each sample's cluster in every order. */
export interface Example {
  readonly group: number;
  readonly prompt: string;
  readonly samples: readonly {
    readonly text: string;
    readonly labels: readonly (number | null)[];
    readonly gold: number | null;
  }[];
}

const AGAINST: Readonly<Record<string, string>> = {
  itself: "itself, in other orders of the samples",
  pairwise: "the judge of pairs",
  gold: "the gold labels",
};
const SHORT: Readonly<Record<string, string>> = { itself: "itself", pairwise: "pairs", gold: "gold" };
const HUES = [hues.blue, hues.vermilion, hues.green];
const SYMBOLS = ["circle", "square", "triangle"] as const;

/** Measure → its name, and what it says. */
const MEASURES: Readonly<Record<string, readonly [string, string]>> = {
  adjusted_rand: ["adjusted Rand index", "1: the same clusters; 0: as alike as by chance."],
  f1: ["F1 of pairs", "Pairs of samples that are together in both, as a share of those that are together in one."],
  flips: ["flips", "The share of samples that must change their cluster for the two to be equal."],
  signs_changed: ["signs changed", "The share of samples whose advantage gets another sign."],
  advantage_change: ["change of advantages", "How far the advantages move, relative to their size; 0: not at all."],
  precision: ["precision of pairs", "Of the pairs that the judge puts together, those that belong together."],
  recall: ["recall of pairs", "Of the pairs that belong together, those that the judge puts together."],
};

const shown = (value: number | null | undefined): string => (value == null ? "unknown" : value.toFixed(3));
const interval = (one: Estimate | undefined): string =>
  one ? `${shown(one.value)} [${shown(one.low)}, ${shown(one.high)}]` : "not measured";

export function Findings({ found }: { found: Found }) {
  const comparisons = Object.keys(found.agreement);
  const measures = Object.keys(MEASURES).filter((measure) =>
    comparisons.some((name) => found.agreement[name]![measure]),
  );
  const [measure, setMeasure] = useState(measures[0] ?? "");
  return (
    <>
      <p>
        {visible(String(found.judge ?? "A judge"))} on {visible(String(found.file ?? "a file"))}:{" "}
        {found.groups ?? "unknown"} groups, {found.orders ?? "unknown"} orders, {found.judgements_unknown ?? "unknown"}{" "}
        judgements that failed. Clusters of a group: {interval(found.clusters)}.
      </p>
      {found.by_group && measures.length ? (
        <>
          <div class="settings">
            <Choice
              label="Measure"
              value={measure}
              options={measures.map((one) => [one, MEASURES[one]![0]] as const)}
              onChange={setMeasure}
            />
          </div>
          <Groups found={found} measure={measure} />
        </>
      ) : (
        <p class="small">This audit holds no values of single groups.</p>
      )}
      <Numbers found={found} measures={measures} />
    </>
  );
}

interface Dot {
  readonly group: number;
  readonly value: number;
  readonly from: string;
}

function Groups({ found, measure }: { found: Found; measure: string }) {
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

function Numbers({ found, measures }: { found: Found; measures: readonly string[] }) {
  const comparisons = Object.keys(found.agreement);
  const others = [...new Set(comparisons.flatMap((name) => Object.keys(found.agreement[name]!)))].filter(
    (name) => !measures.includes(name),
  );
  return (
    <div class="scroll" role="region" aria-label="Agreement in numbers" tabIndex={0}>
      <table class="rows">
        <caption>Means over groups, with their 95% intervals</caption>
        <thead>
          <tr>
            <th scope="col">measure</th>
            {comparisons.map((name) => (
              <th key={name} scope="col">
                compared with {AGAINST[name] ?? visible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...measures, ...others].map((measure) => (
            <tr key={measure}>
              <th scope="row">{MEASURES[measure]?.[0] ?? visible(measure.replaceAll("_", " "))}</th>
              {comparisons.map((name) => (
                <td key={name}>{found.agreement[name]![measure] ? interval(found.agreement[name]![measure]) : ""}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The groups on which the judge contradicts itself most, with its clusters in every order. */
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
            <div class="scroll" role="region" aria-label={`Clusters of group ${example.group + 1}`} tabIndex={0}>
              <table class="rows">
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
                        <td key={at}>{clusterName(label)}</td>
                      ))}
                      {hasGold ? <td>{clusterName(gold)}</td> : null}
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

const clusterName = (label: number | null): string =>
  label === null ? "unknown" : label < 0 ? "none" : label < 26 ? String.fromCharCode(65 + label) : String(label + 1);
