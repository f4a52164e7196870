"""What writes the reference: a module for each page, and what they share."""
