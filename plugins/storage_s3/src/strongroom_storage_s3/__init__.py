"""Keeps Strongroom's files in an S3 bucket."""
