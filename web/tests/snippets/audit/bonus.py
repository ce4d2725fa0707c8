import numpy as np

from setrl.theory.audit import audit


def estimator(rewards, strategies):
    r = np.asarray(rewards, dtype=float)
    N = float(len(r))
    size = (strategies[:, None] == strategies).sum(axis=1) * 1.0
    centred = lambda x: x - np.mean(x)
    with np.errstate(all="ignore"):
        return np.broadcast_to(centred(r + 0.5 * (N / size - 1) / (N - 1)), r.shape)


found = audit(estimator, group_size=3, takes="group")
print(found)
