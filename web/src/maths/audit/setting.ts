/** Groups of N samples of some kinds, with the gradients of all objectives: the same for every formula. */

import { sum } from "../samples";
import { chances, layers, type Layer, type Policy, policyGrid, type Table, table } from "./groups";
import { type Known, known } from "./known";

/** A number for each kind of sample in each group; 0 where a group has none of the kind. */
export type Credit = readonly Float64Array[];

/** A row for each policy, a number for each kind. */
export type Field = readonly (readonly number[])[];

export class Setting {
  readonly kinds: Table;
  readonly layers: readonly Layer[];
  readonly policies: readonly Policy[];
  readonly objectives: readonly Known[];
  private readonly chancesOf = new Map<number, Float64Array[]>();
  private found: readonly Float64Array[] | null = null;

  constructor(
    readonly size: number,
    labels: number,
  ) {
    this.kinds = table(labels);
    const number = this.kinds.rewards.length;
    this.layers = layers(number, size);
    this.policies = policyGrid(number);
    this.objectives = known(this.kinds, this.layers, size);
  }

  /** Every group of N. */
  get groups(): Layer {
    return this.layers[this.size]!;
  }

  /** Every group of N − 1 others. */
  get others(): Layer {
    return this.layers[this.size - 1]!;
  }

  /** ∇J of each objective over the policies, one row each. */
  get gradients(): readonly Float64Array[] {
    this.found ??= this.objectives.map((one) => flat(this.gradient(one, this.policies)));
    return this.found;
  }

  /** ∇J: K·π_a·(Q(a) − J), with Q(a) the mean score of sets that hold a sample of the kind. */
  gradient(one: Known, policies: readonly Policy[]): Field {
    const layer = this.layers[one.size - 1]!;
    const scores = one.at(one.size);
    return this.along(layer, (m, kind) => scores[layer.joined[m]![kind]!]!, one.size, policies);
  }

  /** F: N·π_a·(g_a − Σ π g), with g_a the mean advantage of a sample of the kind. */
  field(credit: Credit, policies: readonly Policy[]): Field {
    const { others } = this;
    return this.along(others, (m, kind) => credit[others.joined[m]![kind]!]![kind]!, this.size, policies);
  }

  private along(layer: Layer, paid: (m: number, kind: number) => number, size: number, policies: readonly Policy[]) {
    const width = this.kinds.rewards.length;
    const rows = Float64Array.from({ length: layer.counts.length * width }, (_, at) =>
      paid(Math.floor(at / width), at % width),
    );
    return this.chances(layer, policies).map((chance, p) =>
      pushed(policies[p]!, expected(rows, chance, width)).map((value) => size * value),
    );
  }

  private chances(layer: Layer, policies: readonly Policy[]): Float64Array[] {
    if (policies !== this.policies) return chances(layer, policies);
    const kept = this.chancesOf.get(layer.size) ?? chances(layer, policies);
    this.chancesOf.set(layer.size, kept);
    return kept;
  }

  /** The chance of each group of N, for each policy. */
  ofGroups(policies: readonly Policy[]): Float64Array[] {
    return this.chances(this.groups, policies);
  }
}

/** The mean of each column of a table with `width` columns, whose rows have these chances. */
export function expected(rows: Float64Array, chance: Float64Array, width: number): number[] {
  const means = new Array<number>(width).fill(0);
  for (let m = 0; m < chance.length; m++)
    for (let kind = 0; kind < width; kind++) means[kind]! += chance[m]! * rows[m * width + kind]!;
  return means;
}

/** π_a·(m_a − Σ_b π_b m_b): the direction in which means push the logits. */
export function pushed(policy: Policy, means: readonly number[]): number[] {
  const average = sum(policy.map((share, kind) => share * means[kind]!));
  return policy.map((share, kind) => share * (means[kind]! - average));
}

export const flat = (field: Field): Float64Array => Float64Array.from(field.flat());

const made = new Map<string, Setting>();

/** The setting for groups of N samples, with one strategy or with several. */
export function setting(size: number, labels: number): Setting {
  const key = `${size},${labels}`;
  const one = made.get(key) ?? new Setting(size, labels);
  made.set(key, one);
  return one;
}
