import numpy as np

from setrl.theory.audit import audit


def estimator(rewards):
    r = np.asarray(rewards, dtype=float)
    N = float(len(r))
    sum = lambda x: np.sum(np.broadcast_to(x, r.shape))
    with np.errstate(all="ignore"):
        return np.broadcast_to(r - (sum(r) - r) / (N - 1), r.shape)


found = audit(estimator, group_size=5, takes="group")
print(found)
