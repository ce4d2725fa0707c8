/** Curves of several arms with intervals and bands; the values at one place appear on hover and tap. */

import { areaY, axisX, axisY, dot, line, pointerX, ruleX, ruleY, type Markish, text, tip } from "@observablehq/plot";
import { Chart } from "./Chart";
import { inARow } from "./format";
import { type Shared, shared } from "./shared";

/** How one curve is drawn: colour, dashes and symbol, any one of which tells curves apart. */
export interface Look {
  readonly label: string;
  readonly hue: string;
  readonly dash: string;
  readonly symbol: string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly low?: number | null | undefined;
  readonly high?: number | null | undefined;
}

export interface Curve {
  readonly look: Look;
  readonly points: readonly Point[];
  /** The ends of a band that holds for all x at once, as dotted lines. */
  readonly band?: readonly { readonly x: number; readonly low: number | null; readonly high: number | null }[];
  /** Thin lines: one for each seed. */
  readonly thin?: readonly (readonly Point[])[];
}

interface Alarm {
  readonly hue: string;
  readonly at: readonly number[];
}

interface Props {
  curves: readonly Curve[];
  x: { label: string; name: string; isLog?: boolean; ticks?: readonly number[] };
  y: {
    label: string;
    format: (value: number) => string;
    tick: (value: number) => string;
    domain?: [number, number] | undefined;
  };
  /** What the chart shows, for readers who do not see it. */
  label: string;
  height?: number;
  /** A line at 0. */
  zero?: boolean;
  /** A symbol at every point, for curves with few points; otherwise only at the last one. */
  dots?: boolean;
  /** Places on the x-axis at which something is wrong with a curve, marked above the plot in its colour. */
  alarms?: readonly Alarm[];
  /** Called with the place on the x-axis that was clicked. */
  onPick?: ((x: number) => void) | undefined;
}

export function Curves({ curves, x, y, label, height = 280, zero = false, dots = false, alarms = [], onPick }: Props) {
  const { own, lines } = shared(curves, y.format);
  return (
    <Chart
      label={label}
      height={height}
      onPick={onPick && ((at) => onPick((at as Place).x))}
      options={(width) => ({
        marginLeft: 50,
        marginRight: 14,
        marginBottom: BOTTOM,
        marginTop: TOP,
        x: x.isLog ? { type: "log", base: 2 } : {},
        y: { nice: true, ...(y.domain ? { domain: y.domain } : {}) },
        marks: [
          ruleY(zero ? [0] : [], { stroke: "var(--muted)" }),
          ...curves.flatMap((curve, i) => drawn(curve, own[i]!, dots)),
          ...lines.flatMap((one) => together(one, width, dots)),
          axisX({
            label: `${x.label} →`,
            labelAnchor: "right",
            tickFormat: largest(curves) >= 10_000 ? "~s" : "~d",
            ...(x.ticks ? { ticks: ticksFor(x.ticks, width) } : { ticks: Math.max(3, width / 110) }),
          }),
          ...alarms.map(({ hue, at }, row) => {
            const top = -ALARM * (alarms.length - row);
            return ruleX(at, {
              stroke: hue,
              strokeWidth: 2,
              insetTop: top,
              insetBottom: height - TOP - BOTTOM - (top + ALARM - 1),
            });
          }),
          axisY({ label: y.label ? `↑ ${y.label}` : null, ticks: 5, tickFormat: y.tick }),
          ruleX(places(curves), pointerX({ x: "x", stroke: "var(--muted)", strokeDasharray: "2 2", maxRadius: 80 })),
          tip(
            places(curves),
            pointerX({
              x: "x",
              y: "y",
              title: (at: Place) => words(curves, at.x, x.name, y.format, width < NARROW),
              maxRadius: 80,
              preferredAnchor: isHigh(curves) ? "top" : "bottom",
              fill: "var(--paper)",
              stroke: "var(--muted)",
              fontSize: 12,
              lineWidth: 30,
            }),
          ),
        ],
      })}
    />
  );
}

const [TOP, BOTTOM] = [24, 38]; // pixels around a plot
const ALARM = 5; // pixels above a plot, for each curve with alarms: they cover no curve
const NARROW = 420; // pixels below which an interval gets a line of its own
const MOST_LINES = 14; // of an explanation that fits beside the pointer

type Place = { readonly x: number; readonly y: number };

/** A line of several curves, in the colour of none, with their names. */
function together({ points, names }: Shared, width: number, dots: boolean): Markish[] {
  return [
    line(points, { x: "x", y: "y", stroke: "var(--ink)", strokeWidth: 2 }),
    dot(dots ? points : points.slice(-1), { x: "x", y: "y", fill: "var(--ink)", r: 3 }),
    text(names.length ? points.slice(-1) : [], {
      x: "x",
      y: "y",
      text: () => inARow(names),
      textAnchor: "end",
      lineAnchor: "top",
      dy: 7,
      lineWidth: width / 14,
      fill: "var(--ink)",
      stroke: "var(--paper)",
      strokeWidth: 4,
    }),
  ];
}

/** A curve with its intervals and seeds; `own` is what it shares with no other. */
function drawn({ look, points, band = [], thin = [] }: Curve, own: readonly Point[], dots: boolean): Markish[] {
  const stroke = { stroke: look.hue, strokeWidth: 2, strokeDasharray: look.dash };
  const known = points.filter(({ low, high }) => low != null && high != null);
  return [
    areaY(known, { x: "x", y1: "low", y2: "high", fill: look.hue, fillOpacity: 0.13 }),
    ...(["low", "high"] as const).map((end) =>
      line(band, { x: "x", y: end, stroke: look.hue, strokeWidth: 1, strokeDasharray: "1 3" }),
    ),
    ...thin.map((seed) => line(seed, { x: "x", y: "y", stroke: look.hue, strokeWidth: 0.8, strokeOpacity: 0.55 })),
    line(own, { x: "x", y: "y", ...stroke }),
    dot(dots ? own : own.slice(-1), {
      x: "x",
      y: "y",
      symbol: look.symbol as "circle",
      fill: look.hue,
      stroke: "var(--paper)",
      strokeWidth: 0.7,
      r: 4,
    }),
  ];
}

const largest = (curves: readonly Curve[]): number =>
  curves.reduce((most, { points }) => Math.max(most, points.at(-1)?.x ?? 0), 0);

/** Each x once, at its highest curve. */
function places(curves: readonly Curve[]): Place[] {
  const highest = new Map<number, number>();
  for (const { points } of curves) {
    for (const { x, y } of points) if (Number.isFinite(y)) highest.set(x, Math.max(y, highest.get(x) ?? y));
  }
  return [...highest].map(([x, y]) => ({ x, y }));
}

/** Whether most of what is drawn is in the upper half, where an explanation above it would not fit. */
function isHigh(curves: readonly Curve[]): boolean {
  const ys = places(curves)
    .map(({ y }) => y)
    .sort((a, b) => a - b);
  const lowest = Math.min(
    ...curves.flatMap(({ points }) => points.map(({ y, low }) => low ?? y)).filter(Number.isFinite),
  );
  return ys.length > 0 && ys[ys.length >> 1]! > (lowest + ys.at(-1)!) / 2;
}

function words(
  curves: readonly Curve[],
  x: number,
  name: string,
  format: (value: number) => string,
  isNarrow: boolean,
): string {
  const lines = curves.flatMap(({ look, points }) => {
    const at = points.find((point) => point.x === x);
    if (!at || !Number.isFinite(at.y)) return [];
    const between = at.low != null && at.high != null ? [`[${format(at.low)}, ${format(at.high)}]`] : [];
    const value = `${look.label} ${format(at.y)}`;
    return isNarrow ? [value, ...between] : [[value, ...between].join(" ")];
  });
  const more = lines.length > MOST_LINES ? [`and ${lines.length - MOST_LINES} more`] : [];
  return [`${name} ${x.toLocaleString("en")}`, ...lines.slice(0, MOST_LINES), ...more].join("\n");
}

/** Fewer ticks where the numbers would touch. */
function ticksFor(ticks: readonly number[], width: number): number[] {
  const step = Math.ceil((ticks.length * 34) / Math.max(width - 64, 100));
  return ticks.filter((_, at) => at % step === 0);
}
