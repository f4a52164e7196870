"""Verification: captchas and codes that show who is there."""
