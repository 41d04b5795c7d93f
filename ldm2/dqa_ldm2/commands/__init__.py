"""``dqa memory``: build, refine and read memories."""
