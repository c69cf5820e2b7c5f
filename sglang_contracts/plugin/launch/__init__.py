"""Launch commands and environment variables in Python, scripts, YAML and Markdown."""
