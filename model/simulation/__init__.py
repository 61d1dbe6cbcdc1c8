"""Discrete-event simulation of a network on `simpy.Environment`: the reference for every effect."""
