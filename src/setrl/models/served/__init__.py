"""OpenAI-compatible servers: one client, which judges and evaluation share."""
