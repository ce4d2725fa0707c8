from tests.engines.chat import chat_model, make_chat
from tests.tiny import make_resolved, one_thread

__all__ = ["chat_model", "make_chat", "make_resolved", "one_thread"]
