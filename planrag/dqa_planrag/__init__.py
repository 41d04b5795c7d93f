"""SingleRAG, IterRAG and PlanRAG (PlanRAG, section 4) with their variants, as deciders."""
