"""The client for asyncio and trio, from which the generator writes ``_sync``."""
