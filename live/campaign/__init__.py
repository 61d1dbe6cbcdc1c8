"""Campaigns: many scenarios measured on labs of several sizes by one protocol, so that they can be compared."""
