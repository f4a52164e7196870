"""Library for login methods by redirect to a provider: OAuth 2.0 (RFC 6749) and its dialects."""
