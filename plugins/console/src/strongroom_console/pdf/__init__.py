"""Pictures of the first pages of PDF documents, made in confined processes."""
