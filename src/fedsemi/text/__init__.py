"""Text from and for outside: parsed with bounds, printed without surprises."""
