"""What people do with a federation: train and watch, predict, export."""
