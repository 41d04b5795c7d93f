"""SingleRAG, IterRAG, PlanRAG and PlanRAG without re-planning (PlanRAG, section 4)."""
