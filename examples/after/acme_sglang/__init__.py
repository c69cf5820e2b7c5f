"""An attention backend for Acme accelerators."""
