/** A reader's own marks on the samples of a group, and what writes one. */

import { useState } from "preact/hooks";
import { ask, type Group, type Mark, type Marks, type Query } from "../api";

export interface OwnMarks {
  readonly marks: Marks;
  /** Where the last mark was saved, or why it was not. */
  readonly saved: string;
  readonly write: (i: number, mark: Mark) => void;
}

export function useMarks(group: Group, about: Query): OwnMarks {
  const [marks, setMarks] = useState(group.marks);
  const [saved, setSaved] = useState("");
  const write = (i: number, mark: Mark): void => {
    const known = marks;
    const sample = { ...about, step: group.step, place: group.place, sample: i };
    setMarks({ ...marks, [i]: mark });
    ask<{ marks: Marks; file: string }>("mark", sample, undefined, mark).then(
      ({ marks: found, file }) => {
        setMarks(found);
        setSaved(`Saved in ${file}, beside the log.`);
      },
      (error: unknown) => {
        setMarks(known);
        setSaved((error as Error).message);
      },
    );
  };
  return { marks, saved, write };
}
