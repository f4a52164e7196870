"""Logins by the credentials of platforms, which end with their people and their sessions there."""
