"""What the documentation site has beside docs/: `make docs` builds it all."""
