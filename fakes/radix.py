"""The radix cache as a backend sees it, in the release's own calling form."""
