"""What runs at the coordinator of a deployment."""
