"""Kuhn poker (Kuhn, 1950): three cards and one raise, small enough for exact answers."""
