"""The documents whose claims are checked."""

NOTE = "Set RL note (Hamid, Orney, Sadigh, Finn, Goodman)"
TUTORIAL = "Poly-EPO tutorial"
SUMMARIES = "Poly-EPO summaries"
MAXPO = "MaxPO review (arXiv:2606.06080)"

ORDER = (NOTE, TUTORIAL, SUMMARIES, MAXPO)
