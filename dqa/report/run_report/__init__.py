"""The report of runs: typed figures first, then one page that shows them."""
