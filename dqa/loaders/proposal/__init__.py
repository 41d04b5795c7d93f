"""Propose a scenario's folder for a live database."""
