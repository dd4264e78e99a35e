"""The pictures of docs/architecture.md, drawn from the code: `python -m tools.draw`."""
