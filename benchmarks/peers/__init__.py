"""The same round of FedAvg in other frameworks, each in an environment of its own."""
