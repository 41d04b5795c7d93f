"""`dqa memory`: building, refining and looking at memories."""
