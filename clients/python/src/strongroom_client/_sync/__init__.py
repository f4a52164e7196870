"""The client without an event loop. Written by clients/python/generate_client.py from ``_async``."""
