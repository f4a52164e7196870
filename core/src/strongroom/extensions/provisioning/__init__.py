"""Provisioning: a directory creates and changes the users and groups of a tenant."""
