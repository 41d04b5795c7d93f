"""Replies that send elsewhere, where neither a key nor a question is to go."""
