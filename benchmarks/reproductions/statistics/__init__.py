"""Golden figures of statistics, by statsmodels and R, that tests hold ours against."""
