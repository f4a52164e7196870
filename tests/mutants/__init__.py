"""Mutation tests: each removes one security guard from a copy of the code, and a test has to fail."""
