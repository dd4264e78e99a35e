"""What `import fedsemi` offers; the package itself names it, see docs/api.md."""
