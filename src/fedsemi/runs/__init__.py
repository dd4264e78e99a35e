"""The folder of a run: records, checkpoints, lock, manifest."""
