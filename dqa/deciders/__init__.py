"""Deciders, which make a decision from a question and a database."""
