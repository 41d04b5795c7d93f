"""Proposes a scenario's folder from a live database."""
