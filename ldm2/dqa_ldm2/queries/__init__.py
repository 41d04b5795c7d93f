"""LDM2 on questions about a database: past decisions as memory.

A trajectory is what an agent asked a database on the way to its decision, taken from the trace of a
run (`trajectories`); a step is a statement, or the decision (`actions`). The deciders retrieve what
was done before (`deciders`), and refining explores other statements, judged like any decision
(`exploring`). Nothing that stems from the question being asked is retrieved (`identity`).
"""
