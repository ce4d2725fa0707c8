from tests.engines.chat import chat_model, make_chat
from tests.tiny import base, make_resolved, one_thread

__all__ = ["base", "chat_model", "make_chat", "make_resolved", "one_thread"]
