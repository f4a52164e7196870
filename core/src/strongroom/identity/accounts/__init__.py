"""Accounts: registration, profile changes, suspension and deletion of users."""
