"""Uploads that clients send to the store by themselves."""
