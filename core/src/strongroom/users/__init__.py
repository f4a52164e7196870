"""Users: who they are, beside what they log in by."""
