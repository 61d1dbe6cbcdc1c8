"""A closed-loop load on a cluster, and the measurement it makes.

`run.run_load` drives a cluster as a scenario says and returns a `Measurement`. Work is done by processes, each with a
`Session` (one of three backends) and a `ClosedLoop` on it; each reports what happened interval by interval. The
parent process makes the table, starts the processes, decides when the rates are flat, reads the nodes' own counters,
and adds everything up.
"""
