"""What a file says: path, hosts, data sets, events, overrides."""
