"""Runs of games: their spec, their setup, playing one game, and their measures."""
