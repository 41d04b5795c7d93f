"""Chat models: by name, scripted, recorded; how they are called, and a server to test that."""
