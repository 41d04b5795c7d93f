"""The simulator and the generator of the Building scenario (PlanRAG, section 3.2)."""
