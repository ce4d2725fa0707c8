/**
 * Chances that a set misses a group of samples: what the closed forms are made of.
 *
 * Of n samples, sets of size K are drawn uniformly. For a sample i and m of the other samples:
 *
 *     missedWith[m]    = C(n−1−m, K−1) / C(n−1, K−1)    a set that holds i misses all m
 *     missedWithout[m] = C(n−1−m, K)   / C(n−1, K)      a set that does not hold i misses all m
 */

export interface Chances {
  readonly missedWith: Float64Array;
  readonly missedWithout: Float64Array;
}

export function chances(n: number, k: number): Chances {
  const missedWith = new Float64Array(n + 1);
  const missedWithout = new Float64Array(n + 1);
  missedWith[0] = 1;
  for (let m = 1; m < n; m++)
    missedWith[m] = (missedWith[m - 1]! * Math.max(n - k - m + 1, 0)) / (n - m);
  for (let m = 0; m <= n; m++)
    missedWithout[m] = (missedWith[m]! * Math.max(n - k - m, 0)) / (n - k || NaN);
  return { missedWith, missedWithout };
}
