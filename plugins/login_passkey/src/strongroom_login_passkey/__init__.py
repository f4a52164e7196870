"""Passkeys: as the only proof of a login, and as a second factor."""
