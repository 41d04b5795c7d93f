"""The contracts that hold the house together, one page to learn."""
