"""Figures of statsmodels and R that tests compare with our statistics."""
