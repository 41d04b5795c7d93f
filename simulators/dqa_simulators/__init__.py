"""Simulators: the ground truth of the Locating and Building scenarios."""
