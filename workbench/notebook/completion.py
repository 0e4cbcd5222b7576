"""Completion for ``%argus`` lines and ``%%argus`` cells; it never makes a session and never waits for Spark.

Each completion says what it is, for the front end to show beside it: a column its SQL type, anything else its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from workbench.notebook.command_line import Argument, Command
from workbench.notebook.commands.define import cell_magic
from workbench.notebook.commands.registry import COMMANDS
from workbench.notebook.context import NotebookContext
from workbench.notebook.replay_status import FULL_SPEED, SPEEDS
from workbench.sql.algebra.column_names import quoted
from workbench.sql.syntax.dialects import EXAMINED

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.session.session import Session

PLACEHOLDER = re.compile(r"(?:(?<![\w:]):|\{\{\s*)(\w*)$")
WORD = re.compile(r"(?:(\w+)\.)?(\w*)$")
NO_ALIASES = {"where", "join", "group", "order", "on", "union", "as"}
"""Words that may follow the name of a stream and are no alias of it."""
AFTER_FROM = re.compile(r"\b(?:from|join)\s+(?:\w+(?:\s+\w+)?\s*,\s*)*(\w*)$", re.IGNORECASE)


def matcher(context: NotebookContext) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """A matcher for IPython's completer (API version 2) that knows the context's streams and queries."""

    @context_matcher(identifier="argus")
    def argus(completion: CompletionContext) -> SimpleMatcherResult:
        return complete(context, completion)

    return argus


def complete(context: NotebookContext, completion: CompletionContext) -> SimpleMatcherResult:
    """The completions at the cursor; none, and nothing suppressed, outside of our magics."""
    line = completion.text_until_cursor
    if line.lstrip().startswith("%argus "):
        return _of_line(context, line.lstrip().removeprefix("%argus "))
    if not completion.full_text.lstrip().startswith("%%argus"):
        return {"completions": []}
    if line.lstrip().startswith("%%argus"):
        return _of_arguments(context, cell_magic, line.lstrip().removeprefix("%%argus"))
    lines = completion.full_text.split("\n")
    return _of_sql(context, completion.full_text, "\n".join([*lines[: completion.cursor_line], line]))


def _of_line(context: NotebookContext, text: str) -> SimpleMatcherResult:
    name, space, rest = text.lstrip().partition(" ")
    if not space:
        return _matches(COMMANDS, name, "command")
    if name == "catalog" and (place := AFTER_FROM.search(rest)):
        relations = session.catalog_tables() if (session := _open_session(context)) else []
        return _matches((relation for relation, _, _ in relations), place[1], "relation")
    return _of_arguments(context, COMMANDS[name], rest) if name in COMMANDS else _matches((), rest)


def _of_arguments(context: NotebookContext, command: Command, text: str) -> SimpleMatcherResult:
    words = text.split()
    fragment = words.pop() if words and not text[-1].isspace() else ""
    options = {flag: a for a in command.arguments if a.is_option for flag in a.flags}
    previous = options.get(words[-1]) if words else None
    if previous is not None and previous.takes_value:
        return _of_values(context, previous, fragment)
    if fragment.startswith("-"):
        return _matches((flag for flag in options if flag not in words), fragment, "option")
    place = sum(
        not word.startswith("-") and not (before in options and options[before].takes_value)
        for before, word in zip(["", *words], words, strict=False)
    )
    positional = [a for a in command.arguments if not a.is_option]
    if place < len(positional):
        return _of_values(context, positional[place], fragment)
    return _matches((flag for flag in options if flag not in words), fragment, "option")


def _of_values(context: NotebookContext, argument: Argument, fragment: str) -> SimpleMatcherResult:
    match argument.completes:
        case "path":
            return {"completions": []}  # IPython completes paths itself
        case "query":
            return _matches(session.queries if (session := _open_session(context)) else (), fragment, "query")
        case "query or stream":
            session = _open_session(context)
            return _matches(_kinds(session.streams, session.queries) if session else {}, fragment)
        case "dialect":
            return _matches(sorted(EXAMINED), fragment, "dialect")
        case "speed":
            return _matches((*SPEEDS, FULL_SPEED), fragment, "speed")
        case "command":
            return _matches(COMMANDS, fragment, "command")
        case _:
            return _matches((), fragment)


def _of_sql(context: NotebookContext, cell: str, before: str) -> SimpleMatcherResult:
    if placeholder := PLACEHOLDER.search(before):
        return _matches({n: type(v).__name__ for n, v in context.user_variables.items()}, placeholder[1])
    word = WORD.search(before)
    owner, fragment = (word[1], word[2]) if word else (None, "")
    session = _open_session(context)
    streams: Mapping[str, Any] = session.streams if session else {}
    queries: Mapping[str, Any] = session.queries if session else {}
    kinds, sources = _kinds(streams, queries), {**queries, **streams}
    aliases = _aliases(cell, kinds)
    if owner is not None:
        names = [aliases[owner.lower()]] if owner.lower() in aliases else list(streams)
        return _matches(_columns(sources, names), fragment)
    if AFTER_FROM.search(before):
        return _matches(kinds, fragment)
    used = list(dict.fromkeys(aliases.values())) or list(streams)
    found = _columns(sources, used)
    for alias, source in aliases.items():
        if alias != source.lower():
            found.setdefault(alias, f"alias of {source}")
    for name in streams:
        found.setdefault(name, kinds[name])
    return _matches(found, fragment)


def _kinds(streams: Mapping[str, Any], queries: Mapping[str, Any]) -> dict[str, str]:
    """What may stand in FROM, by name: whether it is a stream, a table or a query."""
    kinds = {name: "table" if stream.table else "stream" for name, stream in streams.items()}
    return {**kinds, **dict.fromkeys(queries, "query")}


def _aliases(cell: str, streams: Iterable[str]) -> dict[str, str]:
    """Names the cell gives to streams and queries, in lower case, and their own where they are used."""
    aliases: dict[str, str] = {}
    for stream in streams:
        for match in re.finditer(rf"\b{re.escape(stream)}\b(?:\s+(?:as\s+)?(\w+))?", cell, re.IGNORECASE):
            alias = match[1]
            is_alias = alias is not None and alias.lower() not in NO_ALIASES
            aliases[alias.lower() if is_alias else stream.lower()] = stream
    return aliases


def _columns(sources: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """The columns of some streams and queries with their types; where several have one, of the first."""
    columns: dict[str, str] = {}
    for name in names:
        for column, type_ in sources[name].columns:
            columns.setdefault(quoted(column), str(type_))
    return columns


def _matches(words: Iterable[str], fragment: str, kind: str = "") -> SimpleMatcherResult:
    """The words that start with what is typed; inside our magics Python's names would only be noise.

    Args:
        words: all there are; or, where they differ in it, a mapping to what each is.
        fragment: what is typed.
        kind: what they all are.
    """
    folded = fragment.lower()
    kinds = dict(words) if isinstance(words, Mapping) and not kind else dict.fromkeys(words, kind)
    completions = [SimpleCompletion(word, type=what) for word, what in kinds.items() if word.lower().startswith(folded)]
    return {"completions": completions, "suppress": True, "matched_fragment": fragment, "ordered": True}


def _open_session(context: NotebookContext) -> Session | None:
    """The notebook's session; ``None`` when there is none, or it is closed."""
    session = context.current
    return None if session is None or session.closed else session
