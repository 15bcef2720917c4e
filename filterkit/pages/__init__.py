"""Pages: self-contained HTML documents that show data with scripts, and ask the network for nothing."""
