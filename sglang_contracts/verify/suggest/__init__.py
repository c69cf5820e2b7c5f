"""What to use instead of something lost: names, call forms, likeness, renames."""
