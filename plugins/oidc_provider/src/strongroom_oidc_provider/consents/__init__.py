"""What users have allowed clients to do, and the folder that they have chosen for each."""
