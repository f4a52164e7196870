"""Message sender for Aliyun SMS."""
