"""Contracts for SGLang's backend API: recorded, verified, and proved on running releases."""

__version__ = "0.1.0"
