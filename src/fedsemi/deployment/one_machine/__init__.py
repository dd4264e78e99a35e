"""Both sides of a deployment on one machine: simulated on Flower, or as a trial."""
