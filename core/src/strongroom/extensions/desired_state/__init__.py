"""The desired state of a server: what a file declares, and what is missing until the server has it."""
