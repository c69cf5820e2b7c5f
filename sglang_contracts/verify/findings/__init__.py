"""Findings as plain values: merged, selected by the settings, kept in the cache."""
