"""The Locating scenario (PlanRAG, section 3.1): outcomes and generator."""
