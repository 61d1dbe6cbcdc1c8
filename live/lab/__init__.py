"""Real Apache Cassandra nodes on this machine, with capped CPU, memory and disk.

`startup.bring_up` starts a lab, `teardown.tear_down` removes it; between them `startup.join`, `stopping.stop`
and the functions of `caps` work on the `Lab` that `record.load_lab` reads back from the lab's directory.
"""
