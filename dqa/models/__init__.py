"""Chat models: by name, and scripted."""
