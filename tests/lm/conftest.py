from tests.tiny import base, make_resolved, one_thread

__all__ = ["base", "make_resolved", "one_thread"]
