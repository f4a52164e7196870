"""Health checks of the server, and diagnostics for operators."""
