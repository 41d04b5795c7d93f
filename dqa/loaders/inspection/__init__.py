"""Compare a scenario's folder with a live database."""
