import numpy as np

from setrl.theory.audit import audit


def estimator(rewards):
    r = np.asarray(rewards, dtype=float)
    mean = lambda x: np.mean(x)
    std = lambda x: np.std(np.broadcast_to(x, r.shape), ddof=1)
    with np.errstate(all="ignore"):
        return np.broadcast_to((r - mean(r)) / (std(r) + 1e-4), r.shape)


found = audit(estimator, group_size=8, takes="group")
print(found)
