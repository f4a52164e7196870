"""Logins of users to clients: authorizations and codes (OpenID Connect Core, section 3.1)."""
