"""Figures beside the SDK's own Memory: `python -m benchmarks`, or `make bench`."""
