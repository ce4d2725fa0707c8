/** What a model wrote, as text: characters that would hide or reorder it are shown as signs. */

import { visible } from "../components/visible";

export const SampleText = ({ text }: { text: string }) => (
  <span class="sample-text" dir="ltr">
    {visible(text)}
  </span>
);
