"""Simulation in time: an exact fluid engine on SimPy, as much of it as `dtnsim.simulation` runs."""
