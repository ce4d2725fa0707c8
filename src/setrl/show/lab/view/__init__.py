"""The run explorer: `setrl view DIR`, a server of one folder's runs for one reader."""
