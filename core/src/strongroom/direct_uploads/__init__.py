"""Direct uploads: clients send content to the store by presigned requests."""
