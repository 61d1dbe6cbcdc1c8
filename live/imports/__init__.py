"""Readers of other tools' output, each recognised by content: text to measurements, a place for every number."""
