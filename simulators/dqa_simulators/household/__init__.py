"""The household world: one player finds, treats and places things in ALFWorld's games."""
