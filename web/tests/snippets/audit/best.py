import functools

import numpy as np

from setrl.theory.audit import audit


def estimator(rewards):
    r = np.asarray(rewards, dtype=float)
    where = np.where
    max = lambda *x: np.max(x[0]) if len(x) == 1 else functools.reduce(np.maximum, x)
    nth = lambda x, k: np.sort(np.broadcast_to(x, r.shape))[-int(k)]
    std = lambda x: np.std(np.broadcast_to(x, r.shape), ddof=1)
    with np.errstate(all="ignore"):
        return np.broadcast_to(where(r == max(r), r - nth(r, 2), 0) / (std(r) + 1e-6), r.shape)


found = audit(estimator, group_size=4, takes="group")
print(found)
