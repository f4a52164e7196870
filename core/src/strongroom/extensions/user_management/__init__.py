"""Users as administrators manage them: creation, contacts, passwords, links and metadata."""
