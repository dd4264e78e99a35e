"""What only a simulation has: a dealt-out data set, and the truth about it."""
