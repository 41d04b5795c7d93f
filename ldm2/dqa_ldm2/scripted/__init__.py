"""Scripted replies to the prompts of LDM2 and its baselines."""
