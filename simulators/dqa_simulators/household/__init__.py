"""A household in which one player finds, treats and places things: ALFWorld's games as a world."""
