"""One small file for each format that data sets are published in."""
