"""What `python -m benchmarks identification` measures, one file per subject matter."""
