"""Password hashes of other systems, so that their users keep their passwords."""
