"""The walk over one file's syntax tree, one module a kind of statement or call."""
