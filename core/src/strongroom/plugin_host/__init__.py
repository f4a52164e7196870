"""What the core offers to the routes of plugins."""
