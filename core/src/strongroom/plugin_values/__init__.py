"""Values that plugins store for users: encrypted, and deleted with the user."""
