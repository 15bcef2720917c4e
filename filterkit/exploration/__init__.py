"""Exploration: what a report shows of a table, its features, and what a chain makes of them."""
