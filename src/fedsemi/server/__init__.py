"""The round loop, and what stands between replies and the method."""
