/** A word that explains itself on hover, focus and tap; one explanation is open at a time. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { GLOSSARY, type TermName } from "./glossary";

interface Open {
  readonly id: string;
  readonly text: string;
  readonly under: DOMRect;
}

const open = signal<Open | null>(null);

export function Term({ name, children }: { name: TermName; children: ComponentChildren }) {
  const id = useId();
  const show = (event: Event) => {
    const under = (event.currentTarget as HTMLElement).getBoundingClientRect();
    open.value = { id, text: GLOSSARY[name], under };
  };
  const hide = () => {
    if (open.value?.id === id) open.value = null;
  };
  return (
    <button
      type="button"
      class="term"
      aria-describedby={open.value?.id === id ? "tip" : undefined}
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocus={show}
      onBlur={hide}
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
    const close = (event: Event) => {
      if (!(event instanceof KeyboardEvent) || event.key === "Escape") open.value = null;
    };
    addEventListener("keydown", close);
    addEventListener("scroll", close, { passive: true, capture: true });
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("scroll", close, { capture: true });
    };
  }, []);
  useLayoutEffect(() => {
    const [element, tip] = [box.current, open.value];
    if (!element || !tip) return;
    const { width, height } = element.getBoundingClientRect();
    const left = Math.min(tip.under.left, document.documentElement.clientWidth - width - 8);
    const below = tip.under.bottom + 6 + height < innerHeight;
    element.style.left = `${Math.max(8, left)}px`;
    element.style.top = `${below ? tip.under.bottom + 6 : Math.max(8, tip.under.top - 6 - height)}px`;
  });
  return (
    <div id="tip" role="tooltip" ref={box} hidden={open.value === null}>
      {open.value?.text}
    </div>
  );
}
