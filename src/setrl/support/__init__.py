"""What every package may use: errors, names, wording, files, and how an extra is installed."""
