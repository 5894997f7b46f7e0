"""What to change: many scenarios of a path, variants side by side, purchases."""
