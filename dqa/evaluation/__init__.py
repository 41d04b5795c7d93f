"""Prepare, run, store, score and analyse evaluations."""
