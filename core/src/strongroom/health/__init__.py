"""Health: whether the server can do its work, and what to mend if it cannot."""
