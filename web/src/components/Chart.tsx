/** A chart of Observable Plot that is as wide as its place, with its content in words. */

import { plot, type PlotOptions } from "@observablehq/plot";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  /** What the chart shows, for readers who do not see it. */
  label: string;
  height: number;
  options: (width: number) => PlotOptions;
  /** Called with what the pointer is at, when it is pressed there. */
  onPick?: ((value: unknown) => void) | undefined;
}

export function Chart({ label, height, options, onPick }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  // Before the frame is painted, so that a click is laid out and painted once.
  useLayoutEffect(() => {
    if (width < 50) return;
    const drawn = plot({ style: { background: "none", fontSize: "12px" }, ...options(width), width, height });
    drawn.setAttribute("aria-hidden", "true");
    if (onPick) {
      drawn.style.cursor = "pointer";
      drawn.addEventListener("click", () => {
        if (drawn.value != null) onPick(drawn.value);
      });
    }
    place.current!.replaceChildren(drawn);
  });
  return <div class="chart" role="img" aria-label={label} style={{ minHeight: `${height}px` }} ref={place} />;
}
