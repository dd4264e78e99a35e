"""How fast fedsemi is, as ratios measured inside one run, and what else was measured.

`python -m benchmarks` measures what `sections.WHOLE` lists, `python -m benchmarks limit
clients` these items; records are kept and the pages that show them are written.
"""
