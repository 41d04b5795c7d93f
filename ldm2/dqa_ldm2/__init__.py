"""LDM2: decisions that remember and improve (Wang et al., 2023)."""
