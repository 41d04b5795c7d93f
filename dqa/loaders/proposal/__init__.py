"""A scenario's folder proposed from what a live database says of itself."""
