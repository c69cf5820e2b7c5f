"""The checks of level 5, a module a family."""
