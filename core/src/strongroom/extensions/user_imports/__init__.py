"""Imports users of other systems from lines of JSON."""
