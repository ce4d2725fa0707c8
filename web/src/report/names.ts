/** Where the names of dots stand in a chart, so that they cover neither each other nor a dot. */

/** A dot in pixels. */
export interface Dot {
  readonly x: number;
  readonly y: number;
  readonly name: string;
}

/** How a name is moved from its dot. */
export interface Place {
  readonly dx: number;
  readonly dy: number;
  readonly textAnchor: "start" | "middle" | "end";
}

const PLACES: readonly Place[] = [
  { dx: 0, dy: -14, textAnchor: "middle" },
  { dx: 0, dy: 16, textAnchor: "middle" },
  { dx: 11, dy: 0, textAnchor: "start" },
  { dx: -11, dy: 0, textAnchor: "end" },
  { dx: 9, dy: -12, textAnchor: "start" },
  { dx: -9, dy: -12, textAnchor: "end" },
  { dx: 9, dy: 13, textAnchor: "start" },
  { dx: -9, dy: 13, textAnchor: "end" },
];
const [LETTER, LINE, RADIUS] = [6.6, 14, 7]; // pixels of the text of charts, and of a dot

type Box = readonly [left: number, top: number, right: number, bottom: number];

/** For each dot the first place whose name covers nothing, or else covers least. */
export function placesOfNames(dots: readonly Dot[], width: number, height: number): Place[] {
  const taken = dots.map(({ x, y }): Box => [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]);
  return dots.map((dot) => {
    const costs = PLACES.map((place) => {
      const box = boxOf(dot, place);
      return overlaps(box, taken) + outside(box, width, height);
    });
    const best = PLACES[costs.indexOf(Math.min(...costs))]!;
    taken.push(boxOf(dot, best));
    return best;
  });
}

function boxOf({ x, y, name }: Dot, { dx, dy, textAnchor }: Place): Box {
  const wide = LETTER * name.length;
  const left = x + dx - (textAnchor === "start" ? 0 : textAnchor === "end" ? wide : wide / 2);
  return [left, y + dy - LINE / 2, left + wide, y + dy + LINE / 2];
}

const overlaps = (box: Box, taken: readonly Box[]): number =>
  taken.reduce((sum, of) => sum + shared(box[0], box[2], of[0], of[2]) * shared(box[1], box[3], of[1], of[3]), 0);

const shared = (a: number, b: number, c: number, d: number): number => Math.max(0, Math.min(b, d) - Math.max(a, c));

/** How much of a name is cut off at the edges of the chart. */
const outside = ([left, top, right, bottom]: Box, width: number, height: number): number =>
  LINE * (Math.max(0, -left) + Math.max(0, right - width)) +
  (right - left) * (Math.max(0, -top) + Math.max(0, bottom - height));
