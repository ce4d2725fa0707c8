"""A run's report: figures and one self-contained page, from whatever the run directory holds."""
