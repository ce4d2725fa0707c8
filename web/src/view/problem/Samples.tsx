/** All samples of a problem, by strategy or answer: chosen, searched, opened and marked. */

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Panel } from "../../components/Controls";
import { toggled } from "../../components/toggled";
import { pieces, visible } from "../../components/visible";
import type { Group, Query } from "../api";
import { stepping, useKeys } from "../keys";
import { route } from "../route";
import { Card } from "./Card";
import { type By, type Pile, PileName } from "./piles";
import { isMarked as isRenderable } from "./Rendered";
import { SamplesSettings } from "./SamplesSettings";
import type { Selection } from "./selection";

const CARDS_SHOWN = 6; // of one strategy, until a reader asks for all
const LETTERS_TRIED = 4000; // of a sample, which tell whether there is anything to draw

interface Props {
  group: Group;
  about: Query;
  bys: readonly By[];
  by: By;
  piles: readonly Pile[];
  order: readonly number[];
  selection: Selection;
  /** The sample that gets the focus; a new object asks for it again. */
  focused: { readonly i: number } | null;
  onFocus: (i: number) => void;
}

export function Samples({ group, about, bys, by, piles, order, selection, focused, onFocus }: Props) {
  const { raw, find: search = "" } = route.value;
  const { selected, marked, select, compare } = selection;
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const field = useRef<HTMLInputElement>(null);
  const canRender = useMemo(
    () => group.samples.some(({ text }) => isRenderable(text.slice(0, LETTERS_TRIED))),
    [group],
  );
  const isRaw = raw === "1" || !canRender;
  const placeOf = (i: number): number => piles.findIndex(({ members }) => members.indexOf(i) >= CARDS_SHOWN);
  const done = useRef(focused);
  useLayoutEffect(() => {
    if (!focused || done.current === focused) return;
    const folded = placeOf(focused.i);
    if (folded >= 0 && !open.has(folded)) {
      setOpen((known) => new Set([...known, folded]));
      return; // once it is there
    }
    done.current = focused;
    document.getElementById(`sample-${focused.i}`)?.focus();
  }, [focused, open]);
  const move = (by: 1 | -1): void =>
    onFocus(order[Math.max(0, Math.min(order.length - 1, order.indexOf(selected) + by))]!);
  useKeys({
    ...stepping(move),
    ArrowRight: () => move(1),
    ArrowLeft: () => move(-1),
    x: () => compare(selected),
    "/": () => field.current?.focus(),
    Escape: () => {
      if (document.activeElement === field.current) onFocus(selected);
    },
  });
  return (
    <Panel id="samples" title="Samples" lead={lead(group, isRaw)}>
      <SamplesSettings
        bys={bys}
        by={by}
        canRender={canRender}
        search={search}
        found={search ? hits(group, search) : null}
        field={field}
      />
      {piles.map((pile, place) => (
        <div key={pile.members[0]} class="pile">
          <h3>
            <PileName group={group} pile={pile} />
          </h3>
          <div class="cards">
            {pile.members.slice(0, open.has(place) || search ? undefined : CARDS_SHOWN).map((i) => (
              <Card
                key={i}
                group={group}
                i={i}
                name={piles.length > 1 ? pile.name : ""}
                swatch={pile.swatch}
                about={about}
                search={search}
                isRaw={isRaw}
                isSelected={i === selected}
                isMarked={marked.includes(i)}
                onSelect={() => select(i)}
                onCompare={() => compare(i)}
              />
            ))}
          </div>
          {pile.members.length > CARDS_SHOWN && !search ? (
            <button type="button" onClick={() => setOpen((known) => toggled(known, place))}>
              {open.has(place) ? "show fewer" : `show all ${pile.members.length}`}
            </button>
          ) : null}
        </div>
      ))}
    </Panel>
  );
}

const hits = ({ samples }: Group, search: string): string =>
  `in ${samples.filter(({ text }) => pieces(visible(text), search).some(({ found }) => found)).length} of ${samples.length} samples`;

function lead(group: Group, isRaw: boolean): string {
  const many = group.samples.length === 1 ? "1 sample." : `${group.samples.length} samples.`;
  const counted = group.samples.some(({ tokens }) => tokens !== null)
    ? ""
    : " The log does not count tokens: lengths are in letters and words.";
  if (!isRaw) return `${many}${counted}`;
  const letters = `${group.shared_prefix} ${group.shared_prefix === 1 ? "letter" : "letters"}`;
  return `${many}${counted} All begin alike, with ${letters}. Faint letters are shared with at least one other sample; a bar marks where a sample leaves the others.`;
}
