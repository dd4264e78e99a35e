"""What an honest-but-curious server learns about sites; no client may import it."""
