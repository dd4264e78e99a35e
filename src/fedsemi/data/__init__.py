"""Images: what clients own, how it is dealt out and how it is shown to a network."""
