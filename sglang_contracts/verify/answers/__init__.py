"""Answers about a release that are kept until a definition they stand on changes."""
