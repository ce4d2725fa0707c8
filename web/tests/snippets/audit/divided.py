import numpy as np

from setrl.audit import audit


def estimator(rewards):
    r = np.asarray(rewards, dtype=float)
    centred = lambda x: x - np.mean(x)
    mean = lambda x: np.mean(x)
    with np.errstate(all="ignore"):
        return np.broadcast_to(centred(r) / mean(r) + 0.01 * r, r.shape)


found = audit(estimator, group_size=3, takes="group")
print(found)
