"""Fuzzing the engines behind the guard: calls of everything that they list, with odd arguments."""
