"""How fast fedsemi is, as ratios measured inside one run.

`python -m benchmarks` runs everything and writes `benchmarks/results.md`;
`python -m benchmarks limit clients` runs some items and only prints them.
"""
