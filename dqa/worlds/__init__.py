"""The shared parts of all worlds: factories, programs that play, the history."""
