"""Nodes of a file space: their tree, permissions and versions, and what a change of one does."""
