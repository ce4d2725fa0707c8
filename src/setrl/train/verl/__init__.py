"""Set credit in verl: estimators of its registry, and its trainers, by a plug-in."""

from setrl.train.verl.trainer import SetAdvantages

__all__ = ["SetAdvantages"]
