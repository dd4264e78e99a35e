"""Seeing a run: what it recorded, as a page, a comparison, or a page that follows."""
