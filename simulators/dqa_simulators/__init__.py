"""Simulators, question generators and game worlds of the built-in scenarios."""
