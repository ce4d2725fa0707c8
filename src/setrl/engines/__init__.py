"""Other people's trainers with set credit inside, one file an engine, whose `__all__` is public.

>>> from setrl.engines.trl import SetGRPOTrainer  # doctest: +SKIP
"""
