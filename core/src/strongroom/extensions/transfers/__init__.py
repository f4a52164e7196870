"""Transfers of the files of a leaver."""
