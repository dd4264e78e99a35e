"""What to label next: ranked and asked at a site, and measured in simulation."""
