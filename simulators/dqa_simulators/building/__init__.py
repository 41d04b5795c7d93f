"""The Building scenario (PlanRAG, section 3.2): outcomes and generator."""
