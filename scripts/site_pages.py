"""Hooks of MkDocs: pages that are generated from the code, pages of the root folder, and pictures from DOT text.

A generated page is written nowhere: it exists while the site is built, so it cannot fall behind the code.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
WORKBENCH = ROOT / "workbench"
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from functions_page import functions_page  # noqa: E402

from workbench.catalog import schema  # noqa: E402  # the checkout that is documented, installed or not
from workbench.catalog.database import Database  # noqa: E402
from workbench.notebook.commands.registry import COMMANDS, find_command  # noqa: E402
from workbench.notebook.drawing import render_svg  # noqa: E402
from workbench.options import Options  # noqa: E402

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from workbench.notebook.command_line import Argument, Command

ROOT_PAGES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md", "security.md": "SECURITY.md"}
"""Pages of the site that are files of the root folder."""

DOT_BLOCK = re.compile(r'^```dot "(?P<caption>[^"\n]+)"\n(?P<dot>.*?)^```$', re.MULTILINE | re.DOTALL)
"""A picture in a page: a fenced block of DOT text with a caption, which is also what a screen reader says."""

LAYERS_MARK = "<!-- layers -->"
"""Where a page shows the layers, as import-linter holds them."""

PICTURE_STYLE = (
    'fontname="Helvetica"; bgcolor="transparent"; node [fontname="Helvetica", fontsize=11, shape=box,'
    ' style="rounded,filled", fillcolor="#eef1fb", color="#3f51b5"]; edge [fontname="Helvetica", fontsize=10,'
    ' color="#5c6370"];'
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and those of the root folder."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    for path, notebook in notebooks().items():
        files.append(File.generated(config, path, content=notebook_page(notebook)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace blocks of DOT text by drawings, and the mark of the layers by theirs."""
    if LAYERS_MARK in markdown:
        markdown = markdown.replace(LAYERS_MARK, layers())
    return DOT_BLOCK.sub(lambda block: figure(block["dot"], block["caption"]), markdown)


def pages() -> dict[str, str]:
    """The Markdown of all pages that no file in ``docs`` holds, by path."""
    generated: dict[str, Callable[[], str]] = {
        "reference/magics.md": magics,
        "reference/options.md": options,
        "reference/catalog.md": catalog,
        "reference/modules.md": modules,
        "reference/functions.md": functions_page,
        "gallery/index.md": gallery,
    }
    return {path: text() for path, text in generated.items()} | {
        path: in_site((ROOT / name).read_text(encoding="utf-8")) for path, name in ROOT_PAGES.items()
    }


def notebooks() -> dict[str, Path]:
    """The notebooks of the folder ``notebooks``, by the path of the page that shows each with its outputs."""
    return {f"gallery/{path.stem}.html": path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}


def gallery() -> str:
    """The page that lists the notebooks, each with its title and what its first lines say."""
    lines = ["# Gallery\n", "The notebooks of the folder `notebooks`, with what their cells show.\n"]
    for path, notebook in notebooks().items():
        title, _, text = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"]).partition("\n")
        first = text.strip().partition("\n\n")[0].replace("\n", " ")
        lines.append(f"- [{title.lstrip('# ')}]({Path(path).name}): {first}")
    return "\n".join(lines) + "\n"


def notebook_page(notebook: Path) -> str:
    """A notebook with its outputs as a page of its own, which loads nothing from the network."""
    import nbformat

    from workbench.notebook.demo import page

    return page(nbformat.read(notebook, as_version=4), notebook.stem)


def in_site(text: str) -> str:
    """The text of a file of the root folder, its links as seen from ``docs``.

    Example:
        >>> in_site("[SQL](docs/reference/sql.md), [changes](CHANGELOG.md)")
        '[SQL](reference/sql.md), [changes](changelog.md)'
    """
    for page, name in ROOT_PAGES.items():
        text = text.replace(f"]({name}", f"]({page}")
    return text.replace("](docs/", "](")


def figure(dot: str, caption: str) -> str:
    """A drawing of DOT text, in one style, with its caption.

    Raises:
        EnvironmentProblem: Graphviz does not accept the text.
    """
    svg = render_svg(dot.replace("{", "{" + PICTURE_STYLE, 1))
    svg = re.sub(r"<!--.*?-->|<title>.*?</title>|\n\s*", "", svg, flags=re.DOTALL)  # Markdown ends HTML at blank lines
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(caption)}" ', 1)
    return f'<figure class="picture">{svg}<figcaption>{escape(caption)}</figcaption></figure>'


def magics() -> str:
    """The reference of the magics, from the table of commands that the magics themselves use."""
    lines = [
        "# Magics",
        "`%load_ext workbench` makes them known to a notebook. `%argus` without a command opens the panel."
        " `%argus help COMMAND` prints what this page says of a command.",
    ]
    for command in (find_command("%%argus"), *COMMANDS.values()):
        lines += _command(command)
    return "\n\n".join(lines) + "\n"


def _command(command: Command) -> list[str]:
    cell = command.name.startswith("%%")
    name = command.name if cell else f"%argus {command.name}"
    usage = command.help().split("\n\n", 1)[0]
    lines = [f"## {name}", _text(command.summary), f"```text\n{usage}\n```"]
    if command.arguments:
        rows = [f"| `{_spelling(each)}` | {_text(_help(each))} |" for each in command.arguments]
        lines.append("\n".join(["| argument | meaning |", "|---|---|", *rows]))
    if command.examples:
        lines.append("```text\n" + "\n".join(command.examples) + "\n```")
    return lines


def _spelling(argument: Argument) -> str:
    metavar = argument.settings.get("metavar") or " or ".join(argument.settings.get("choices") or ())
    if not argument.is_option:
        return metavar or argument.flags[0].upper()
    spelled = ", ".join(argument.flags)
    return f"{spelled} {metavar}" if argument.takes_value and metavar else spelled


def _help(argument: Argument) -> str:
    text = argument.settings.get("help") or ""
    return "" if text == argparse.SUPPRESS else text


def _text(text: str) -> str:
    return re.sub(r"([{}<>|*_])", r"\\\1", text)


def options() -> str:
    """The reference of ``Options``, from its fields and its docstring."""
    meanings = attributes(inspect.getdoc(Options) or "")
    rows = [
        f"| `{field.name}` | {field.type} | `{field.default!r}` | {meanings[field.name]} |"
        for field in dataclasses.fields(Options)
    ]
    return "\n".join(
        [
            "# Options",
            "",
            "`Session(options=Options(...))` switches single means of sharing and evaluation off. The defaults are best"
            " for a user; experiments switch means off to measure them. **No option changes any answer.**",
            "",
            "| option | type | default | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
            "Sections such as *T6.3* are those of the ARGUS thesis; see [the comparison](../comparison.md).",
            "",
            "```python",
            "from workbench import Options",
            "",
            'options = Options(join_order=False, strategy="match-plan")',
            "```",
            "",
        ]
    )


def attributes(docstring: str) -> dict[str, str]:
    """What the ``Attributes`` section of a docstring says of each attribute, on one line.

    Example:
        >>> attributes("A.\\n\\nAttributes:\\n    one: the first,\\n        with more.\\n    two: the second.\\n")
        {'one': 'the first, with more.', 'two': 'the second.'}
    """
    section = docstring.partition("Attributes:\n")[2].split("\n\n", 1)[0]
    found = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()).replace("``", "`") for name, text in found}


def layer_names() -> list[str]:
    """The layers of the package from the top down, as import-linter holds them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [part.strip().removeprefix("workbench.") for layer in layers for part in layer.split("|")]


def layers() -> str:
    """The table of the layers, each with what its package says it is."""
    rows = [f"| `{name}` | {purpose(WORKBENCH / name)} |" for name in layer_names()]
    return "\n".join(["| layer | what it is |", "|---|---|", *rows])


def modules() -> str:
    """Every module of the package by folder, with the first sentence of its docstring."""
    lines = ["# Modules", "Every module of `workbench`, with its purpose, from the bottom layer up."]
    order = layer_names()[::-1]
    folders = {path.parent for path in WORKBENCH.rglob("*.py") if path.name != "__init__.py"}

    def place(folder: Path) -> tuple[int, Path]:
        package = folder.relative_to(WORKBENCH).parts[:1]
        return (order.index(package[0]) if package and package[0] in order else -1, folder)

    for folder in sorted(folders, key=place):
        name = folder.relative_to(ROOT).as_posix()
        rows = [
            f"| `{module.name}` | {purpose(module)} |"
            for module in sorted(folder.glob("*.py"))
            if module.name != "__init__.py"
        ]
        about = purpose(folder)
        lines += [f"## {name}", *([about] if about else []), "\n".join(["| module | purpose |", "|---|---|", *rows])]
    return "\n\n".join(lines) + "\n"


DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
"""That of a module, which begins with it; 800 modules need not be parsed for it."""


def purpose(path: Path) -> str:
    """The first sentence of the docstring of a module or a package; empty where it has none."""
    file = next((each for each in (path, path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)
    docstring = None if file is None else DOCSTRING.match(file.read_text(encoding="utf-8"))
    first = re.split(r"\n\n|(?<=\.)\s", docstring[1] if docstring else "", maxsplit=1)[0]
    return _cell(" ".join(first.split()))


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


RELATION = re.compile(r"((?:^-- .*\n)*)^CREATE (?:TABLE|TEMP VIEW) (\w+)", re.MULTILINE)
"""A relation in the statements that create the catalog, with the comment above it."""


def catalog() -> str:
    """The reference of the system catalog, from the statements that create it."""
    lines = [
        "# System catalog",
        "The session keeps all that it knows of its queries and of the network in relations of a SQLite database."
        ' `%argus catalog` lists them, `%argus catalog "SELECT …"` and `session.catalog("SELECT …")` query them;'
        " nothing can be changed that way. The relations of the network follow the ARGUS thesis (T6.2.7, T7.1, T7.2.1,"
        " T8.1).",
        f"The version of this layout is {schema.VERSION}. A folder of an older version is brought to it when it is"
        " opened for writing.",
    ]
    database = Database()
    for comment, name in RELATION.findall(schema.DDL + schema.DERIVED):
        columns = [f"`{row[1]}`" for row in database.rows(f"PRAGMA table_xinfo({name})")]
        says = " ".join(line.removeprefix("-- ") for line in comment.splitlines())
        lines += [f"## {name}", *([_text(says)] if says else []), "Columns: " + ", ".join(columns) + "."]
    database.close()
    return "\n\n".join(lines) + "\n"
