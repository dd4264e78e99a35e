"""Draw the pictures of docs/architecture.md again, and count its lines."""

from __future__ import annotations

from tools.draw.pictures import drawn

if __name__ == "__main__":
    for path, content in drawn().items():
        path.write_text(content, "utf-8")
        print(path)
