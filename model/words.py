"""What the figures mean, in the words a person forwards: remedies, measurements, the last line."""

from __future__ import annotations

from collections.abc import Sequence

from .demands import PARAMETERS
from .gain import CANNOT_TELL, COSTS, COSTS_LITTLE, HELPS, Gain
from .limit import WORDS, Limit
from .perturbation import IN_FLIGHT

REMEDIES = {
    IN_FLIGHT: "more requests in flight at the clients",
    "client CPU": "a second client machine, or a client that uses less CPU per operation",
    "replica CPU": "faster or more cores, or a lower replication factor or consistency level",
    "coordinator CPU": "faster or more cores, token-aware routing, or larger batches of one partition",
    "data disk": "faster data disks, or more memory for the page cache",
    "commit-log disk": "a faster disk for the commit log",
    "network": "a faster network interface, or smaller rows",
    "native transport": "a larger `native_transport_max_threads`",
    "read stage": "a larger `concurrent_reads`",
    "mutation stage": "a larger `concurrent_writes`",
    "hottest node": "a more even load: more or replication-aware tokens, or no single hot partition",
}
"""What relieves each limit."""

MEASUREMENTS = {
    "hardware.hops": "the message delay between your nodes",
    "hardware.cores": "the CPU of a node under your load",
    "clients.cpu_per_operation": "the clients' CPU per operation",
    "clients.in_flight": "how many requests your clients have in flight",
    "clients.rate": "the rate your clients send",
    "hardware.data_disks": "the random reads per second of your disks",
}
"""How an input of the scenario is found out."""


def remedy(limit: Limit) -> str:
    """Return what would help: it relieves the limit, or the strongest of a shared one."""
    return REMEDIES[limit.ranking[0][0] if limit.station == "shared" else limit.station]


def measurement(name: str) -> str:
    """Return what to measure to know an input better."""
    if name in MEASUREMENTS:
        return MEASUREMENTS[name]
    meaning = PARAMETERS[name].meaning
    return f"the {meaning[0].lower() + meaning[1:] if not meaning.startswith('CPU') else meaning}"


def percent(value: float) -> str:
    """Return a relative change as `+31 %`."""
    return f"{100 * value:+.0f} %"


def interval(gain: Gain) -> str:
    """Return a gain with its interval, `+31 % [24, 38]`."""
    return f"{percent(gain.value)} [{100 * gain.low:.0f}, {100 * gain.high:.0f}]"


def add_words(clients: Gain | None, capacity: Gain, limit: Limit) -> str:
    """Return the answer to "add a node?" in a sentence, with what would help instead when it does not."""
    if clients is None:
        return f"capacity: {capacity.verdict}; the present load is more than the cluster can carry"
    if clients.verdict == HELPS:
        return "helps at your clients" + ("" if capacity.verdict == HELPS else f"; capacity: {capacity.verdict}")
    instead = f"what would help: {remedy(limit)}"
    if clients.verdict == CANNOT_TELL:
        return f"cannot tell at your clients; {instead}"
    if capacity.verdict == HELPS:
        return f"no gain at your clients, room for more load; {instead}"
    return f"no gain expected; {instead}"


def remove_words(clients: Gain | None, capacity: Gain) -> str:
    """Return the answer to "remove a node?" in a sentence."""
    if clients is None:
        return "the remaining nodes cannot carry the load"
    named = (("at your clients", clients), ("capacity", capacity))
    lost = [name for name, gain in named if gain.verdict == COSTS]
    kept = [name for name, gain in named if gain.verdict == COSTS_LITTLE]
    if lost:
        return f"costs {' and '.join(lost)}" + (f"; little {kept[0]}" if kept else "")
    return f"costs little {' and '.join(kept)}" if len(kept) == 2 else CANNOT_TELL


def remedy_of_doubt(doubt: str, inputs: Sequence[str]) -> str:
    """Return what makes an undecided answer surer, by the largest part of its error."""
    if doubt == "rings":
        return "give the tokens of your ring (`cluster.tokens`) to be sure"
    if doubt == "sampling":
        return "simulate longer (`--precision`) to be sure"
    return f"measure {measurement(inputs[0])} to be sure" if inputs else ""


def headline(clients: Gain | None, capacity: Gain, limit: Limit, surer: str) -> str:
    """Return the line to forward; `surer` says what would make it surer."""
    at_clients = f"At your clients {interval(clients)}" if clients else "Load not carried"
    parts = [at_clients, f"capacity {interval(capacity)}", f"limited by {limit.words}", surer]
    return "; ".join(part for part in parts if part) + "."


def limit_words(limit: Limit) -> str:
    """Return the limit in words, with what 10 % more of it brings."""
    if limit.station == "shared":
        return limit.words
    return f"{WORDS[limit.station]} (10 % more of it: {percent(1.1**limit.elasticity - 1)})"
