"""Keeps files in a folder of this machine."""
