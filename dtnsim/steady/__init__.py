"""Rates in the long run: max-min shares, what binds and why, `predict`."""
