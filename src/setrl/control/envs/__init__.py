"""Environments that can be set back: adapters, `make_resettable`, and a check that it is exact."""
