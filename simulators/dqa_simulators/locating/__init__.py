"""The Locating scenario (PlanRAG, section 3.1): outcomes, generator, and an analyst's script."""
