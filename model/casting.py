"""Who plays which role in each member of an ensemble, kept so that it is worked out once."""

from __future__ import annotations

import numpy as np

from .ensemble import Ensemble
from .graph import Resource
from .network import Floats
from .offered import unit_shares


class Casting:
    """Role distributions, mean delays and asked pools of every case, by member."""

    def __init__(self, members: Ensemble) -> None:
        self._members = members
        self._shares: dict[tuple[int, int], Floats] = {}
        self._delays: dict[tuple[int, int, int], Floats] = {}
        self._pools: dict[tuple[int, Resource, int], Floats] = {}

    def shares(self, number: int, role: int) -> Floats:
        """Return the probability of each unit to play a role in a case, [members, units]."""
        if (number, role) not in self._shares:
            network, rings = self._members.network, self._members.rings
            table = np.array([unit_shares(network, ring.cases[number], role) for ring in rings])
            self._shares[number, role] = table[self._members.ring]
        return self._shares[number, role]

    def delay_s(self, number: int, sender: int, receiver: int) -> Floats:
        """Return the mean message delay between the units of two roles in a case, [members]."""
        key = (number, sender, receiver)
        if key not in self._delays:
            table = np.array([ring.cases[number].delay_s[sender, receiver] for ring in self._members.rings])
            self._delays[key] = table[self._members.ring] * self._members.hop_ratio
        return self._delays[key]

    def pools(self, number: int, resource: Resource, role: int) -> Floats:
        """Return how often a request asks each pool by a role of a case, its probability included,
        [members, pools]."""
        key = (number, resource, role)
        if key not in self._pools:
            members = self._members
            where = members.network.pool_of[resource]
            table = np.zeros_like(members.permits)
            probability = np.array([ring.cases[number].probability for ring in members.rings])[members.ring]
            for unit in np.flatnonzero(where >= 0):
                table[:, where[unit]] += probability * self.shares(number, role)[:, unit]
            self._pools[key] = table
        return self._pools[key]
