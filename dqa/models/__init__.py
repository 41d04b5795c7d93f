"""Chat models: by name, scripted, recorded; and how they are called."""
