"""Storage backend for Aliyun OSS buckets."""
