"""Sums that hide their parts: what sites and server do so that nobody sees one site."""
