"""Other people's trainers with set credit inside, one file an engine.

>>> from setrl.engines.trl import SetGRPOTrainer  # doctest: +SKIP
"""
