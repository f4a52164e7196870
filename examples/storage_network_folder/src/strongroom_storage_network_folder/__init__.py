"""Keeps files in a folder that another machine shares."""
