"""Chat models of providers, scripted models and recorded models, and calls to them."""
