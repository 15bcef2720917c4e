"""File formats beside ARFF: what a plugin extends, and how filterkit reads and writes through it."""
