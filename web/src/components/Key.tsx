/** The key of charts: each curve's line and symbol, and a switch that hides it. */

import { plot, line, dot } from "@observablehq/plot";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Look } from "./Curves";

interface Props {
  looks: readonly (Look & { readonly key: string })[];
  hidden: ReadonlySet<string>;
  onToggle: (key: string) => void;
}

export function Key({ looks, hidden, onToggle }: Props) {
  return (
    <div class="segments curves-key" role="group" aria-label="Show or hide">
      {looks.map((look) => (
        <button key={look.key} type="button" aria-pressed={!hidden.has(look.key)} onClick={() => onToggle(look.key)}>
          <Line look={look} />
          {look.label}
        </button>
      ))}
    </div>
  );
}

/** A short piece of the curve. */
export function Line({ look }: { look: Look }) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const drawn = plot({
      width: 34,
      height: 14,
      margin: 0,
      axis: null,
      x: { domain: [0, 2] },
      y: { domain: [0, 2] },
      marks: [
        line(
          [
            [0, 1],
            [2, 1],
          ],
          { stroke: look.hue, strokeWidth: 2, strokeDasharray: look.dash },
        ),
        dot([[1, 1]], { symbol: look.symbol as "circle", fill: look.hue, r: 4 }),
      ],
    });
    drawn.setAttribute("aria-hidden", "true");
    place.current!.replaceChildren(drawn);
  }, [look.hue, look.dash, look.symbol]);
  return <span class="line" ref={place} aria-hidden="true" />;
}
