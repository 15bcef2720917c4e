"""The contingency table and what is computed from it."""
