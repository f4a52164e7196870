"""Verification: captchas, and codes sent to e-mail addresses and mobile numbers."""
