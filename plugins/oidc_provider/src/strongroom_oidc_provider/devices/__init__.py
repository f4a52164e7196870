"""Logins on devices without a browser (RFC 8628)."""
