"""What is stored: tenants, blobs, nodes and files."""
