"""What is stored: tenants, blobs, nodes, files, bundles, uploads, business files."""
