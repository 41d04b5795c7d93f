"""The deciders SingleRAG, IterRAG and PlanRAG (PlanRAG, section 4), and their variants."""
