"""Parts of `python -m benchmarks tracking`."""
