"""What other projects offer: only `integrations/x.py` imports x."""
