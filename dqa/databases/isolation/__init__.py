"""Statements in worker processes, so that none can hang, crash or swell the process that asks.

The promise, for every backend: `run` returns within its limit of time and one second more, costs
this process what the result may weigh and a few megabytes, and cannot end it, whatever an engine, a
driver or a server does. What keeps it is outside of all of them: a statement runs in a process of
its own, the asker waits for that with a deadline, and past the deadline the process is killed.

`wire` is how the two talk, `processes` starts and ends workers (by `fork_server`, or elsewhere by
`spawning`), `bounds` is what the operating system limits of one, `serving` runs within it, and
`session` is what the asker holds.

Ctrl-C may come between any two steps of the asker. Every wait looks for it, and what may not be
left half done is known by what is still held, not by steps that have to be taken at the end.
"""
