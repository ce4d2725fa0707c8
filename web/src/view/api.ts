/** What the server answers, and how it is asked. Texts of samples are data, never HTML. */

import { useEffect, useState } from "preact/hooks";

export interface Training {
  readonly seed: number;
  readonly has_metrics: boolean;
  readonly steps: readonly number[];
}

export interface Arm {
  readonly name: string;
  readonly set_size: number | null;
  readonly seeds: readonly Training[];
}

/** The samples of one split; "" is training. */
export interface Sampled {
  readonly split: string;
  readonly arms: readonly {
    readonly name: string;
    readonly set_size: number | null;
    readonly seeds: readonly { readonly seed: number; readonly steps: readonly number[] }[];
  }[];
}

export interface Run {
  readonly id: string;
  readonly name: string;
  readonly where: string;
  readonly kind: "comparison" | "control" | "log" | "files";
  readonly status: string | null;
  readonly created: string | null;
  readonly error: string | null;
  readonly command: string | null;
  readonly has_report: boolean;
  /** Metric → what the report calls it. */
  readonly titles: Readonly<Record<string, string>>;
  readonly arms: readonly Arm[];
  readonly samples: readonly Sampled[];
  readonly looks: Readonly<
    Record<string, { readonly label: string; readonly hue: string; readonly dash: string; readonly symbol: string }>
  >;
}

export interface Runs {
  readonly folder: string;
  readonly runs: readonly Run[];
  readonly notes: readonly string[];
}

export interface GroupRow {
  readonly step: number;
  readonly place: number;
  readonly samples: number;
  readonly graded: number;
  readonly correct: number | null;
  readonly pass1: number | null;
  readonly change: number | null;
  readonly lost: number | null;
  readonly strategies: number | null;
  readonly disagreement: number | null;
  readonly dead: number | null;
  readonly largest: number | null;
  readonly surprise: number | null;
  readonly wrong_up: number | null;
  readonly prompt: string;
  /** Two signs for each sample: its strategy (A, B, …, - none, ? unknown), and right (+), wrong (-) or not graded (?). */
  readonly strip: string;
}

export interface Groups {
  readonly total: number;
  readonly chosen: number;
  readonly from: number;
  readonly rows: readonly GroupRow[];
  /** A table as text; null where the log is of one task. */
  readonly by_task: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } | null;
  /** How far the log is read, while it is. */
  readonly progress: { readonly share: number; readonly seconds_left: number | null } | null;
  /** The share of the groups whose samples are searched; null without a search. */
  readonly searched: number | null;
  readonly beside: string | null;
  readonly notes: readonly string[];
  /** Why the rest of the log cannot be read. */
  readonly error: string | null;
  readonly by_step: boolean;
}

export interface Place {
  readonly run: string;
  readonly name: string;
  readonly arm: string;
  /** What people call the arm. */
  readonly label: string;
  readonly seed: number;
  readonly step: number;
  readonly place: number;
  readonly samples: number;
  readonly graded: number;
  readonly correct: number | null;
  readonly strategies: number | null;
  readonly by_step: boolean;
}

export interface Elsewhere {
  readonly places: readonly Place[];
  readonly left_out: number;
  readonly unread: number;
}

export interface Sample {
  readonly text: string;
  readonly length: number;
  readonly reward: number | null;
  readonly correct: boolean | null;
  readonly advantage: number | null;
  readonly against: boolean;
  readonly strategy: string | null;
  readonly answer: string | null;
  readonly label: number | null;
  readonly branch: number;
  readonly why_wrong: string | null;
  /** Null where the log does not count them. */
  readonly tokens: number | null;
}

type Values = readonly (number | null)[];

export interface Parts {
  readonly reward: Values;
  readonly diversity: Values;
  readonly covariance: Values;
  readonly total: Values;
  readonly reward_with: Values;
  readonly diversity_with: Values;
  readonly all: Values;
}

/** Where the advantages of a log come from; "log": the log does not say. */
export interface Origin {
  readonly kind: "loss" | "credit" | "log";
  readonly method: string | null;
  readonly set_size: number | null;
}

/** The mean scores of the sets that a method compares. */
export interface Explained {
  readonly method: string;
  readonly set_size: number;
  readonly baseline: string;
  readonly is_scaled: boolean;
  readonly is_shaped: boolean;
  readonly values: Values;
  readonly with: Values;
  readonly without: Values;
  readonly all: number | null;
}

export interface Group {
  readonly step: number;
  readonly place: number;
  readonly number: number;
  readonly before: number | null;
  readonly after: number | null;
  readonly id: string;
  readonly prompt: string;
  readonly gold: string | null;
  readonly by_step: boolean;
  readonly all_methods: Readonly<Record<string, string>>;
  readonly set_size: number;
  readonly largest_set_size: number;
  readonly notes: readonly string[];
  readonly shared_prefix: number;
  readonly methods: Readonly<Record<string, string>>;
  readonly samples: readonly Sample[];
  readonly others: Readonly<Record<string, Values>>;
  readonly parts: Parts | Record<string, never>;
  /** The methods that compare sets. */
  readonly sized: readonly string[];
  readonly origin: Origin;
  /** The methods that give the advantages of the log: none, one, or several that agree. */
  readonly in_log: readonly string[];
  readonly explained: Explained | null;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export const address = (what: string, query: Query = {}): string => {
  const given = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
  return `/api/${what}?${new URLSearchParams(given).toString()}`;
};

export async function ask<T>(what: string, query: Query, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(address(what, query), signal ? { signal } : {}).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Error("The server does not answer: is setrl view still running?");
  });
  if (answer.ok) return (await answer.json()) as T;
  const text = await answer.text();
  let sentence = text;
  try {
    sentence = (JSON.parse(text) as { error?: string }).error ?? text;
  } catch {
    // a refusal in plain text
  }
  throw new Error(sentence || `the server answered ${answer.status}`);
}

export interface Asked<T> {
  readonly found: T | null;
  readonly error: string | null;
  readonly waits: boolean;
}

/**
 * An answer, asked again whenever the question changes; the last one stays until the new one is there. While
 * `again` says so of the last answer, the question is asked again every second.
 */
export function useAnswer<T>(what: string, query: Query | null, again?: (found: T) => boolean): Asked<T> {
  const [state, setState] = useState<Asked<T>>({ found: null, error: null, waits: true });
  const question = query === null ? null : address(what, query);
  useEffect(() => {
    if (query === null) return undefined;
    const leaving = new AbortController();
    let next: ReturnType<typeof setTimeout> | undefined;
    const go = (): Promise<void> =>
      ask<T>(what, query, leaving.signal).then(
        (found) => {
          setState({ found, error: null, waits: false });
          if (again?.(found)) next = setTimeout(() => void go(), AGAIN);
        },
        (error: unknown) => {
          if (!leaving.signal.aborted) setState({ found: null, error: (error as Error).message, waits: false });
        },
      );
    setState((known) => ({ ...known, waits: true }));
    void go();
    return () => {
      leaving.abort();
      clearTimeout(next);
    };
  }, [question]);
  return state;
}

const AGAIN = 1000; // milliseconds
