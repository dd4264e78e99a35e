"""What each client is worth to the others, by measures that do not ask SemiAnAgg."""
