"""What `check`, `matrix`, `uses`, `upgrade` and `releases` stand on, one module a command."""
