"""Data classes and protocols that all other packages use."""
