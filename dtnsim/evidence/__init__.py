"""Measured cases, calibration, and measured beside predicted."""
