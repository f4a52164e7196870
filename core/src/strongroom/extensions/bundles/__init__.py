"""Bundles: files and folders as one ZIP archive, with a size and layout known before it is sent."""
