"""Storage backend for S3 buckets."""
