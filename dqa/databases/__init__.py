"""Open databases, load situations into them, and run statements with bounded results."""
