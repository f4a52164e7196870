"""Keeps Strongroom's files in an Aliyun OSS bucket."""
