"""Authorizations: login, access and refresh tokens, revocation."""
