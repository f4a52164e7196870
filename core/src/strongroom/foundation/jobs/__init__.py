"""Recurring jobs that run once per interval on all servers of a database together."""
