"""A fleet in time: the transfers of a facility for a year, its queues, its faults, and what follows from them."""
