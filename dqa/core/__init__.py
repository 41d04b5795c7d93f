"""The contracts: data classes and protocols."""
