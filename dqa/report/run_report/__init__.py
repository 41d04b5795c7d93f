"""The report of runs: figures as data, and the page that shows them."""
