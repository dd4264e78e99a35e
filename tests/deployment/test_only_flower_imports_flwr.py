from __future__ import annotations

import ast
from pathlib import Path

import fedsemi

_PACKAGE = Path(fedsemi.__file__).parent


def _imports_flwr(path: Path) -> bool:
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return any(name.split(".")[0] in ("flwr", "ray") for name in names)


def test_only_the_flower_engine_imports_flower():
    offenders = {
        path.relative_to(_PACKAGE).parts[0]
        for path in _PACKAGE.rglob("*.py")
        if _imports_flwr(path)
    }
    assert offenders == {"deployment"}
