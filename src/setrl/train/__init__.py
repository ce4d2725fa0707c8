"""Train: what samples say is gathered, scored and handed to a trainer; runs hold arms × seeds."""
