"""Speed as ratios from interleaved rounds: ``python -m benchmarks [NAME...]``."""
