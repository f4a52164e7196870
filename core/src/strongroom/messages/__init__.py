"""Messages: how people are told things."""
