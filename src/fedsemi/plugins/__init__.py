"""Methods, networks, data sets and learners, by name: ours and those from outside."""
