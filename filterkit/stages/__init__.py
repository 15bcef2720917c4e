"""What the author of a stage extends."""
