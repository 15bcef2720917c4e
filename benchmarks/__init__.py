"""Speed and memory of filterkit against its peers, as ratios measured in one run: ``python -m benchmarks``."""
