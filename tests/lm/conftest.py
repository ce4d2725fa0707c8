from tests.tiny import make_resolved, one_thread

__all__ = ["make_resolved", "one_thread"]
