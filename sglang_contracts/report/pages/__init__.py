"""Text of the commands whose answer is not a list of findings: one module a command."""
