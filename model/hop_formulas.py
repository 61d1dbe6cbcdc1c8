"""Textbook closed forms for hops and messages on an even ring of one datacenter.

Every node is a replica of rf / nodes of the keys. They frame the exact analysis in `hops.py`, which takes
any ring, and tests hold the two against each other.
Source: J. Mäkinen, cassandra-user mailing list, July 2010 (the round-robin case at RF 1);
docs/background/hops.md derives the rest.
"""

from __future__ import annotations

from collections.abc import Mapping


def hop_probability_round_robin(nodes: int, rf: int) -> float:
    """Return the probability that a coordinator picked in turn holds no replica: 1 - rf / nodes.

    It is the probability that a read at ONE needs a hop when the snitch puts the coordinator first.

    >>> hop_probability_round_robin(nodes=2, rf=1)
    0.5
    """
    return 1 - rf / nodes


def hop_probability_ring_order(nodes: int) -> float:
    """Return the probability that a read at ONE needs a hop under SimpleSnitch: 1 - 1 / nodes, whatever RF.

    >>> hop_probability_ring_order(nodes=4)
    0.75
    """
    return 1 - 1 / nodes


def hop_probability_token_aware(rf: int, coordinator_first: bool, shuffled: bool) -> float:
    """Return the probability that a token-aware read at ONE needs a hop.

    None when the snitch puts the coordinator first, or when the client takes the first replica; but a
    shuffling client under SimpleSnitch meets the first replica only once in rf times.

    >>> hop_probability_token_aware(rf=4, coordinator_first=False, shuffled=True)
    0.75
    """
    return 1 - 1 / rf if shuffled and not coordinator_first else 0.0


def asks_itself_round_robin(nodes: int, rf: int, needed: int, coordinator_first: bool) -> float:
    """Return the probability that a coordinator picked in turn is among the replicas a read asks."""
    return (rf if coordinator_first else needed) / nodes


def asks_itself_token_aware(rf: int, needed: int, coordinator_first: bool, shuffled: bool) -> float:
    """Return the probability that a token-aware coordinator is among the replicas a read asks."""
    return needed / rf if shuffled and not coordinator_first else 1.0


def read_messages(needed: int, asks_itself: float) -> float:
    """Return the messages of a read: a request and an answer for every replica asked on another node.

    >>> read_messages(needed=2, asks_itself=1.0)
    2.0
    """
    return 2 * (needed - asks_itself)


def background_read_messages(
    rf: int, needed: int, asks_itself: float, is_replica: float, chance: float
) -> float:
    """Return the messages of a read that contacts the remaining replicas with a probability `chance`."""
    foreground = read_messages(needed, asks_itself)
    return foreground + chance * (read_messages(rf, is_replica) - foreground)


def write_messages(factors: Mapping[str, int], is_replica: float) -> float:
    """Return the messages of a write: every replica on another node gets one mutation and acknowledges once.

    Forwarding within a datacenter changes who sends the mutation, not how many there are.

    >>> write_messages({"dc1": 3, "dc2": 3}, is_replica=1.0)
    10.0
    """
    return 2 * (sum(factors.values()) - is_replica)


def write_messages_between_datacenters(factors: Mapping[str, int], local_datacenter: str) -> float:
    """Return the messages of a write that cross datacenters: one mutation each, an acknowledgement a replica.

    >>> write_messages_between_datacenters({"dc1": 3, "dc2": 3}, "dc1")
    4.0
    """
    remote = [factor for name, factor in factors.items() if name != local_datacenter and factor > 0]
    return float(len(remote) + sum(remote))
