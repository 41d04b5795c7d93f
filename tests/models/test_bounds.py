"""Replies that are too large, too deep or too slow, from servers on loopback."""
