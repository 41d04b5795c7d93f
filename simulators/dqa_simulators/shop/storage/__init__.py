"""How a catalogue is kept: its tables, files of the cache, and databases of the user's own."""
