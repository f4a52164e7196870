"""Logs users in to other applications, by OpenID Connect and OAuth 2.1."""
