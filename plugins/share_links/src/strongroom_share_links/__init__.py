"""Share links and drop boxes: files for people without an account."""
