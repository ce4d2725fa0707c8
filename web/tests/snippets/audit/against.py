import numpy as np

from setrl.theory.audit import audit


def estimator(rewards):
    r = np.asarray(rewards, dtype=float)
    with np.errstate(all="ignore"):
        return np.broadcast_to(-2e6 * r, r.shape)


found = audit(estimator, group_size=2, takes="group")
print(found)
