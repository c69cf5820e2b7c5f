"""Contract clauses against recorded releases, and against what a plugin does."""
