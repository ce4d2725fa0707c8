/** Two numbers of every arm against each other, with the ends of their intervals; hover tells the values. */

import { axisX, axisY, dot, line, type Markish, pointer, ruleX, ruleY, text, tip } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import type { Look } from "../components/Curves";
import { placesOfNames } from "./names";

interface Range {
  readonly value: number;
  readonly low?: number | null | undefined;
  readonly high?: number | null | undefined;
}

export interface Spot {
  readonly key: string;
  readonly look: Look;
  readonly x: Range;
  readonly y: Range;
}

interface Axis {
  readonly label: string;
  readonly format: (value: number) => string;
  readonly tick: (value: number) => string;
}

interface Props {
  spots: readonly Spot[];
  x: Axis;
  y: Axis;
  title: string;
  height?: number;
  /** Join the arms of a sweep, whose names differ only in numbers. */
  joined?: boolean;
}

const FRAME = { marginLeft: 54, marginRight: 24, marginTop: 24, marginBottom: 38, inset: 14 }; // pixels
const MOST_NAMES = 12; // more names than these would cover each other

export function Scatter({ spots, x, y, title, height = 300, joined = false }: Props) {
  const words = ({ look, x: across, y: up }: Spot): string =>
    `${look.label}\n${x.label} ${between(across, x.format)}\n${y.label} ${between(up, y.format)}`;
  const [placeX, placeY] = [(spot: Spot) => spot.x.value, (spot: Spot) => spot.y.value];
  const hue = ({ look }: Spot): string => look.hue;
  const wide = spots.filter(({ x: at }) => at.low != null && at.high != null);
  const tall = spots.filter(({ y: at }) => at.low != null && at.high != null);
  return (
    <Chart
      height={height}
      label={`${title}: ${spots.map((spot) => words(spot).replaceAll("\n", ", ")).join("; ")}.`}
      options={(width) => ({
        ...FRAME,
        marks: [
          ...(joined
            ? sweeps(spots).map((of): Markish =>
                line(of, {
                  x: placeX,
                  y: placeY,
                  stroke: of[0]!.look.hue,
                  strokeOpacity: 0.55,
                  strokeDasharray: of[0]!.look.dash,
                }),
              )
            : []),
          ruleY(wide, {
            y: placeY,
            x1: ({ x: at }: Spot) => at.low!,
            x2: ({ x: at }: Spot) => at.high!,
            stroke: hue,
            strokeOpacity: 0.7,
          }),
          ruleX(tall, {
            x: placeX,
            y1: ({ y: at }: Spot) => at.low!,
            y2: ({ y: at }: Spot) => at.high!,
            stroke: hue,
            strokeOpacity: 0.7,
          }),
          ...spots.map((spot) =>
            dot([spot], {
              x: placeX,
              y: placeY,
              fill: hue(spot),
              symbol: spot.look.symbol as "circle",
              r: 6,
              stroke: "var(--paper)",
            }),
          ),
          ...(spots.length <= MOST_NAMES ? placesOfNames(inPixels(spots, width, height), width, height) : []).map(
            (place, at) =>
              text([spots[at]!], {
                x: placeX,
                y: placeY,
                text: ({ look }: Spot) => look.label,
                fill: "var(--ink)",
                stroke: "var(--paper)",
                strokeWidth: 4,
                ...place,
              }),
          ),
          axisX({ label: `${x.label} →`, labelAnchor: "right", ticks: 4, tickFormat: x.tick }),
          axisY({ label: `↑ ${y.label}`, ticks: 5, tickFormat: y.tick }),
          tip(
            spots,
            pointer({
              x: placeX,
              y: placeY,
              title: words,
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

const between = ({ value, low, high }: Range, format: (value: number) => string): string =>
  low != null && high != null ? `${format(value)} [${format(low)}, ${format(high)}]` : format(value);

/** Spots whose names differ only in numbers, where there are several. */
function sweeps(spots: readonly Spot[]): readonly (readonly Spot[])[] {
  const alike = new Map<string, Spot[]>();
  for (const spot of spots) {
    const key = spot.key.replace(/\d+(\.\d+)?(e-?\d+)?/g, "#");
    alike.set(key, [...(alike.get(key) ?? []), spot]);
  }
  return [...alike.values()].filter((of) => of.length > 1);
}

/** Where the dots are drawn: the axes end at the ends of the intervals. */
function inPixels(spots: readonly Spot[], width: number, height: number) {
  const [left, top] = [FRAME.marginLeft + FRAME.inset, FRAME.marginTop + FRAME.inset];
  const across = placer(
    spots.map(({ x }) => x),
    left,
    width - FRAME.marginRight - FRAME.inset,
  );
  const up = placer(
    spots.map(({ y }) => y),
    height - FRAME.marginBottom - FRAME.inset,
    top,
  );
  return spots.map(({ x, y, look }) => ({ x: across(x.value), y: up(y.value), name: look.label }));
}

/** Number → pixels. */
function placer(of: readonly Range[], first: number, last: number): (value: number) => number {
  const ends = of.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  return (value) => (most > least ? first + ((value - least) / (most - least)) * (last - first) : (first + last) / 2);
}
