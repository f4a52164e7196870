"""Pages for login and for the second factors of a user."""
