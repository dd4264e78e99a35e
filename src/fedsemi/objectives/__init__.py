"""Objectives: losses with a memory."""
