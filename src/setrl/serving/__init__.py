"""OpenAI-compatible servers: how judges and evaluation ask them."""
