"""What every kind of run shares: its config, its folder, its processes, and the spine."""
