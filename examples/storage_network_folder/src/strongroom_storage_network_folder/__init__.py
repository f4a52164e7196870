"""Stores files in a folder that another machine shares."""
