"""Accounts: the life of a user, from registration on."""
