"""A plugin's files, settings and ignore comments, read without importing anything."""
