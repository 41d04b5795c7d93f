"""Leduc poker (Southey et al., 2005): six cards and two rounds, small enough for exact answers."""
