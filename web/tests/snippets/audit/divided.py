import functools

import numpy as np

from setrl.theory.audit import audit


def estimator(rewards):
    r = np.asarray(rewards, dtype=float)
    eps = 0.000001
    centred = lambda x: x - np.mean(x)
    max = lambda *x: np.max(x[0]) if len(x) == 1 else functools.reduce(np.maximum, x)
    mean = lambda x: np.mean(x)
    with np.errstate(all="ignore"):
        return np.broadcast_to(centred(r) / max(mean(r), eps) + 0.01 * r, r.shape)


found = audit(estimator, group_size=3, takes="group")
print(found)
