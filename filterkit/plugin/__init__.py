"""How plugins are found, loaded and named in a chain."""
