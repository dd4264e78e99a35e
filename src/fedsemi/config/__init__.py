"""From TOML files to checked settings, and from settings to methods."""
