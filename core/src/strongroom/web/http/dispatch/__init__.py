"""The dispatch of requests: one Flask application for all routes, and its table of routes."""
