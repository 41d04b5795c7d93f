"""A scenario's folder held against a live database, before anything is asked by it."""
