"""What everything rests on: errors, units, quantities, YAML, the library of parts, the small records."""
