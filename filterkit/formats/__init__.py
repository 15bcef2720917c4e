"""File formats: what a format is, and the one reader and the one writer of all formats."""
