import functools
import math

import numpy as np

from setrl.theory.audit import audit


def estimator(rewards):
    r = np.asarray(rewards, dtype=float)
    N = float(len(r))
    eps = 0.000001
    abs = np.abs
    exp = np.exp
    log = np.log
    sqrt = np.sqrt
    choose = np.vectorize(lambda n, k: math.comb(int(n), int(k)) if n >= k >= 0 else 0, otypes=[float])
    max = lambda *x: np.max(x[0]) if len(x) == 1 else functools.reduce(np.maximum, x)
    min = lambda *x: np.min(x[0]) if len(x) == 1 else functools.reduce(np.minimum, x)
    pstd = lambda x: np.std(x)
    sum = lambda x: np.sum(np.broadcast_to(x, r.shape))
    with np.errstate(all="ignore"):
        return np.broadcast_to(max(r * choose(N - sum(r), 1), -abs(r)) / min(N, 9) - eps * log(exp(sqrt(pstd(r)))), r.shape)


found = audit(estimator, group_size=4, takes="group")
print(found)
