"""The claims ledger: every statement of the source documents, checked by running code."""
