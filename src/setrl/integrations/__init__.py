"""Other people's tools: each file here is about one, and alone imports it where that is needed."""
