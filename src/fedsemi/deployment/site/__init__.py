"""What runs at a deployed site."""
