"""Symbolic values, uses and the records of one file: what extraction gives and evaluation reads."""
