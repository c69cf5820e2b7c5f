"""What a symbolic value of the plugin is in one release."""
