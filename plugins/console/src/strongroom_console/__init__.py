"""The console: pages for files, tenants and the server."""
