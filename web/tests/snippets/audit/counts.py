import numpy as np

from setrl.theory.audit import audit


def estimator(rewards, strategies):
    r = np.asarray(rewards, dtype=float)
    m = (strategies[:, None] == strategies) @ (1.0 * (r > 0.5))
    size = (strategies[:, None] == strategies).sum(axis=1) * 1.0
    where = np.where
    with np.errstate(all="ignore"):
        return np.broadcast_to(where(r > 0, m ** (0.25 - 1), -0.1 * size), r.shape)


found = audit(estimator, group_size=2, takes="group")
print(found)
