/** A chart with its title, and its numbers to save as CSV and its picture as SVG. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { csvText, save, svgText } from "./saving";

interface Props {
  title: ComponentChildren;
  /** The name of the files that a reader saves, without ending. */
  file: string;
  /** The numbers of the chart: the names of the columns, then rows. */
  rows: () => readonly (readonly (string | number | null)[])[];
  children: ComponentChildren;
}

export function Figure({ title, file, rows, children }: Props) {
  const figure = useRef<HTMLElement>(null);
  return (
    <figure ref={figure} class="saved">
      <figcaption>
        <h3>{title}</h3>
        <span class="saves">
          <button
            type="button"
            aria-label={`Save the numbers of ${file} as CSV`}
            onClick={() => save(`${file}.csv`, "text/csv", csvText(rows()))}
          >
            CSV
          </button>
          <button
            type="button"
            aria-label={`Save the picture of ${file} as SVG`}
            onClick={() =>
              save(`${file}.svg`, "image/svg+xml", svgText(figure.current!.querySelector<SVGSVGElement>(".chart svg")!))
            }
          >
            SVG
          </button>
        </span>
      </figcaption>
      {children}
    </figure>
  );
}
