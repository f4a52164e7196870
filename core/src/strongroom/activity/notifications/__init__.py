"""Messages to users."""
