"""The composition root: builds the services, the applications and the servers."""
