from tests.tiny import base, make_config, one_thread

__all__ = ["base", "make_config", "one_thread"]
