"""Delivers events to URLs of users, by Standard Webhooks 1.0."""
