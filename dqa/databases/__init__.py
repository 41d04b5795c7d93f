"""The query layer: one interface, a file per backend, the read-only guard, agent tools."""
