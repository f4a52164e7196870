"""Users and their profiles; their credentials are in :mod:`strongroom.identity.users`."""
