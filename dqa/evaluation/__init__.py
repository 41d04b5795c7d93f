"""Evaluation: run, store, score, analyse, report."""
