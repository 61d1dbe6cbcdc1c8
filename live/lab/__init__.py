"""Real Apache Cassandra nodes on this machine, with capped CPU, memory and disk.

`bring_up` starts a lab, `tear_down` removes it; between them `join`, `stop`, `observe` and the functions of
`caps` work on the `Lab` that `load_lab` reads back from the lab's directory.
"""
