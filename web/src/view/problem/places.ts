/** Where a problem was sampled: what a place is called, in addresses and on the page. */

import { visible } from "../../components/visible";
import type { Place } from "../api";

export const keyOf = ({ run, arm, seed, step, place }: Place): string => [run, seed, step, place, arm].join("|");

export const nameOf = ({ name, label, seed, step, by_step }: Place): string =>
  `${visible(name)}, ${visible(label)}, seed ${seed}${by_step ? `, step ${step}` : ""}`;
