"""The simulator and the generator of the Locating scenario (PlanRAG, section 3.1)."""
