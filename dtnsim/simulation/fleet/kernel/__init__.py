"""What a fleet does in time, on flat numbers: one source that runs as plain Python and compiled by numba."""
