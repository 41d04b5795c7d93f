"""Runs of games: which are played, how one is made and kept, and what it is measured by."""
