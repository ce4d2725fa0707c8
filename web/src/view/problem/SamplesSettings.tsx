/** How the samples of a problem are shown: grouped, drawn or as written, searched. */

import { Choice } from "../../components/Controls";
import { go, route } from "../route";
import type { By } from "./piles";

const TEXTS = [
  ["", "formulas drawn"],
  ["1", "as they are written"],
] as const;

interface Props {
  bys: readonly By[];
  by: By;
  canRender: boolean;
  search: string;
  /** In how many samples the search was found. */
  found: string | null;
  field: { current: HTMLInputElement | null };
}

export function SamplesSettings({ bys, by, canRender, search, found, field }: Props) {
  return (
    <div class="settings">
      {bys.length > 1 ? (
        <Choice
          label="Group by"
          value={by}
          options={bys.map((one) => [one, one] as const)}
          onChange={(one) => go({ by: one }, true)}
        />
      ) : null}
      {canRender ? (
        <Choice
          label="Texts"
          value={route.value.raw === "1" ? "1" : ""}
          options={TEXTS}
          onChange={(one) => go({ raw: one || undefined }, true)}
        />
      ) : null}
      <div class="field">
        <label class="field-name" for="sample-search">
          Search in the samples (/)
        </label>
        <input
          id="sample-search"
          ref={field}
          type="search"
          value={search}
          onInput={(event) => go({ find: event.currentTarget.value || undefined }, true)}
        />
        <span class="small" role="status">
          {found ?? ""}
        </span>
      </div>
    </div>
  );
}
