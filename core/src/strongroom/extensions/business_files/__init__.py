"""Business files: pictures and documents that are addressed by unguessable names."""
