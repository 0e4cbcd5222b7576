"""The documentation as tests see it: its pages with those that are generated, their links, anchors and code samples."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(?P<language>[\w+-]*)[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Sample:
    """A block of code in a page, with the output that the page shows below it, if it shows one."""

    page: str
    line: int
    language: str
    code: str
    output: str | None


@cache
def script(name: str) -> ModuleType:
    """A module of the folder ``scripts``."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def site_pages() -> ModuleType:
    """The module that generates pages when the site is built."""
    return script("site_pages")


@cache
def pages() -> dict[str, str]:
    """The Markdown of every page of the site, by its path in ``docs``."""
    written = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    return written | site_pages().pages()


def without_code(text: str) -> str:
    """A page without its blocks of code and code in lines."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as Python-Markdown makes them."""
    from markdown.extensions.toc import slugify

    headings = re.findall(r"^#{1,6} (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {slugify(re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading), "-") for heading in headings}


def samples(page: str, text: str) -> list[Sample]:
    """The blocks of code of a page, in order; a block ``output`` belongs to the one before it."""
    found: list[Sample] = []
    for block in FENCE.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        if block["language"] == "output":
            last = found.pop()
            found.append(Sample(last.page, last.line, last.language, last.code, block["code"]))
        else:
            found.append(Sample(page, line, block["language"], block["code"], None))
    return found
