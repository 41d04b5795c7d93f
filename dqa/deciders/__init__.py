"""Deciders: what turns a question and a database into a decision."""
