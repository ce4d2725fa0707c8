/** A word that explains itself on hover, focus and tap; one explanation is open at a time. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { GLOSSARY, type TermName } from "./glossary";

interface Open {
  readonly id: string;
  readonly text: string;
  readonly word: HTMLElement;
}

const LINGER = 150; // milliseconds in which the pointer may move from the word to its explanation
const GAP = 6;

const open = signal<Open | null>(null);
let closing: ReturnType<typeof setTimeout> | undefined;

const keep = (): void => clearTimeout(closing);

const close = (): void => {
  keep();
  open.value = null;
};

const closeSoon = (): void => {
  keep();
  closing = setTimeout(close, LINGER);
};

export function Term({ name, children }: { name: TermName; children: ComponentChildren }) {
  const id = useId();
  const show = (event: Event) => {
    keep();
    open.value = { id, text: GLOSSARY[name], word: event.currentTarget as HTMLElement };
  };
  return (
    <button
      type="button"
      class="term"
      aria-describedby={open.value?.id === id ? "tip" : undefined}
      onMouseEnter={show}
      onMouseLeave={closeSoon}
      onFocus={show}
      onBlur={close}
      onClick={show}
    >
      {children}
    </button>
  );
}

/** The open explanation; put once at the end of a page. */
export function Tip() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape") close();
    };
    const follow = () => {
      if (box.current && open.value) place(box.current, open.value.word);
    };
    addEventListener("keydown", escape);
    addEventListener("scroll", follow, { passive: true, capture: true });
    return () => {
      removeEventListener("keydown", escape);
      removeEventListener("scroll", follow, { capture: true });
    };
  }, []);
  useLayoutEffect(() => {
    if (box.current && open.value) place(box.current, open.value.word);
  });
  return (
    <div id="tip" role="tooltip" ref={box} hidden={open.value === null} onMouseEnter={keep} onMouseLeave={closeSoon}>
      {open.value?.text}
    </div>
  );
}

/** Under the word, or above it where there is no room, and inside the window. */
function place(box: HTMLElement, word: HTMLElement): void {
  const [own, at] = [box.getBoundingClientRect(), word.getBoundingClientRect()];
  const left = Math.min(at.left, document.documentElement.clientWidth - own.width - 8);
  const fits = at.bottom + GAP + own.height < innerHeight;
  box.style.left = `${Math.max(8, left)}px`;
  box.style.top = `${fits ? at.bottom + GAP : at.top - GAP - own.height}px`;
}
