"""The versions of a store's schema, each a step from the one before."""
