"""The protocol: OAuth 2.1 and OpenID Connect, by Authlib."""
