"""Authorizations: login, access tokens and their end."""
