"""Generate questions and their databases from a seed."""
