"""Pure functions of the physics, SI in and SI out, one topic a file: equation, range, neglect, source."""
