"""The operations of the API, one module per subject. Written by clients/python/generate_client.py."""
