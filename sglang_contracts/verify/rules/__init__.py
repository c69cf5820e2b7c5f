"""Causes of findings: what detects one in a release, and what makes a finding of it."""
