"""The paper's tables and figures as experiments: what to run, what came out of it."""
