"""The changes of a tenant's files, for clients that keep a copy of them."""
