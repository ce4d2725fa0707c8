"""Trainers of other libraries with set credit inside: one folder each, whose `__all__` is public.

>>> from setrl.train.trl import SetGRPOTrainer  # doctest: +SKIP
"""
