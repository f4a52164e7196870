"""Business files: pictures and documents under names nobody can guess."""
