"""What every kind of run shares: whole files, strict configs, run directories, and processes."""
