"""What the core brings by itself, through the same hooks as any plugin."""
