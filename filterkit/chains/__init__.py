"""Fitting stages in order, saving what was fitted, and the training rows in between."""
