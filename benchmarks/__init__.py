"""How much triage costs, as ratios to what an operator would use instead: `python -m benchmarks`."""
