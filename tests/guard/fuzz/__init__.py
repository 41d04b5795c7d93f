"""Fuzzing the guard: mutated statements, and what they do to real databases."""
