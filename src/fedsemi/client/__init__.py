"""All that runs at a site: the local loop, learners, what may leave."""
