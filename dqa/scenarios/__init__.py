"""Scenarios: kinds of decision questions."""
