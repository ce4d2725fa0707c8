/** Random numbers from a seed (mulberry32), so that a link shows the same draw to everybody. */

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** 0 … length − 1 in a random order (Fisher and Yates). */
  permutation(length: number): Uint32Array {
    const order = Uint32Array.from({ length }, (_, at) => at);
    for (let last = length - 1; last > 0; last--) {
      const other = Math.floor(this.next() * (last + 1));
      const kept = order[last]!;
      order[last] = order[other]!;
      order[other] = kept;
    }
    return order;
  }
}
