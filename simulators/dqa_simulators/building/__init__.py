"""The Building scenario (PlanRAG, section 3.2): outcomes, generator, and an analyst's script."""
