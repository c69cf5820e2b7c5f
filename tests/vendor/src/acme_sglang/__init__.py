"""Acme accelerators for SGLang."""
