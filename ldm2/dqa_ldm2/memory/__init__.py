"""The memory of LDM2: state-action tuples in a database, found by their types and by likeness."""
