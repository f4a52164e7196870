"""What happened, and who is informed: audit, events, notifications."""
