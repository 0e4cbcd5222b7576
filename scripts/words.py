"""Find a public name that two modules define, a private type in a public signature, and phrases that hide a subject."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from python_sources import parsed

ROOT = Path(__file__).parents[1]
PROSE = ("workbench", "benchmarks", "docs", "README.md", "CONTRIBUTING.md", "SECURITY.md")
PHRASES = re.compile(r"\b(so many|whoever|nobody|somebody|anybody|what comes)\b", re.IGNORECASE)
ALLOWED = {
    "DECLARED": "a module of SQL functions lists its declarations under this name; the registry reads them",
    "Session": "that of the notebook is that of Python, with the methods that show it",
    "load_ipython_extension": "IPython calls it in the package that it loads",
    "main": "the entry point of a program",
}
REGISTERED = {"command", "reads", "reads_call", "reads_name"}
"""Decorators: such a function is called by what it is registered under, which may be the name of another thing."""


def definitions(module: ast.Module) -> Iterator[str]:
    """The public classes, functions and constants of a module; names of one letter are type variables."""
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                called = {ast.unparse(each.func) for each in decorators if isinstance(each, ast.Call)}
                yield from () if called & REGISTERED or name.startswith("_") else (name,)
            case ast.ClassDef(name=name) | ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                yield from (name,) if len(name) > 1 and not name.startswith("_") else ()


def private_types(body: list[ast.stmt]) -> Iterator[str]:
    """Public functions, and methods of public classes, that take or give what has a private type."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from private_types(node.body)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            types = [node.returns, *(each.annotation for each in (*node.args.args, *node.args.kwonlyargs))]
            names = {each.id for part in types if part for each in ast.walk(part) if isinstance(each, ast.Name)}
            yield from (f"{node.name} has {name} in its signature" for name in sorted(names) if name.startswith("_"))


found, modules = [], defaultdict(list)
for path in sorted(path for name in PROSE for path in [ROOT / name, *(ROOT / name).rglob("*.*")]):
    if path.suffix in (".py", ".md"):
        text, at = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        found += [f"{at}:{text.count(chr(10), 0, each.start()) + 1}: {each[0]}" for each in PHRASES.finditer(text)]
        if at.startswith(("workbench/", "benchmarks/")) and path.suffix == ".py":
            module, own = parsed(path), at.startswith("workbench/")
            found += [f"{at}: {each}" for each in private_types(module.body)] if own else []
            for name in definitions(module):
                # A function of a benchmark is called by its module.
                modules[name] += [at] if own or name[0].isupper() else []
found += [f"{', '.join(at)}: {name}" for name, at in modules.items() if len(at) > 1 and name not in ALLOWED]
sys.exit("\n".join(found) or None)
