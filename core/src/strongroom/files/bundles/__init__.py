"""Bundles: files and folders as one ZIP archive, whose every byte is known before it is sent."""
