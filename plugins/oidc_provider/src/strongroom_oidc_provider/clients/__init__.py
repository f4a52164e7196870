"""Clients, which administrators of the server manage, or which register themselves."""
