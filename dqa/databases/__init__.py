"""The query layer: one interface, a file per backend, bounded results."""
