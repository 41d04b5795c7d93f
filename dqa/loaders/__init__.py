"""Readers that give questions and situations, and writers of situations into databases."""
