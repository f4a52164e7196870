"""What users do with all of their own data: an export, and a deletion that they can cancel."""
