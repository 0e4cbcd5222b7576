"""Completion for ``%argus`` lines and ``%%argus`` cells; it never makes a session and never waits for Spark.

Each completion says what it is, for the front end to show beside it: a column its SQL type, a function its signature,
anything else its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from workbench.notebook.assist.names import (
    MAGIC,
    aliases_of,
    completed_columns,
    current_session,
    dialect_of,
    functions_in,
    is_cell,
    kinds_of,
    sources_of,
)
from workbench.notebook.command_line import Argument, Command
from workbench.notebook.commands.define import cell_magic
from workbench.notebook.commands.registry import COMMANDS
from workbench.notebook.context import NotebookContext
from workbench.notebook.replay_status import FULL_SPEED, SPEEDS
from workbench.sql.function_help import FunctionHelp
from workbench.sql.syntax.dialects import EXAMINED

if TYPE_CHECKING:
    from collections.abc import Callable

PLACEHOLDER = re.compile(r"(?:(?<![\w:]):|\{\{\s*)(\w*)$")
WORD = re.compile(r"(?:(\w+)\.)?(\w*)$")
UNBROKEN = "\N{NO-BREAK SPACE}"
"""JupyterLab would write a type of several words over several completions."""
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
    if not is_cell(completion.full_text):
        return {"completions": []}
    if is_cell(line):
        return _of_arguments(context, cell_magic, line.lstrip().removeprefix(MAGIC))
    lines = completion.full_text.split("\n")
    return _of_sql(context, completion.full_text, "\n".join([*lines[: completion.cursor_line], line]))


def _of_line(context: NotebookContext, text: str) -> SimpleMatcherResult:
    name, space, rest = text.lstrip().partition(" ")
    if not space:
        return _matches(COMMANDS, name, "command")
    if name == "catalog" and (place := AFTER_FROM.search(rest)):
        relations = session.catalog_tables() if (session := current_session(context)) else []
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
            return _matches(session.queries if (session := current_session(context)) else (), fragment, "query")
        case "query or stream":
            return _matches(kinds_of(current_session(context)), fragment)
        case "zone":
            return _matches(sorted(available_timezones()), fragment)
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
    session = current_session(context)
    kinds, sources = kinds_of(session), sources_of(session)
    streams = list(session.streams) if session else []
    aliases = aliases_of(cell, kinds)
    if owner is not None:
        names = [aliases[owner.lower()]] if owner.lower() in aliases else streams
        return _matches(completed_columns(sources, names), fragment)
    if AFTER_FROM.search(before):
        return _matches(kinds, fragment)
    used = list(dict.fromkeys(aliases.values())) or streams
    found = completed_columns(sources, used)
    for alias, source in aliases.items():
        if alias != source.lower():
            found.setdefault(alias, f"alias of {source}")
    for name in streams:
        found.setdefault(name, kinds[name])
    if fragment:  # all functions at once would only be noise
        for name, known in functions_in(session, dialect_of(cell)).items():
            found.setdefault(name.upper() if fragment.isupper() else name, _function_type(known))
    return _matches(found, fragment)


def _function_type(known: FunctionHelp) -> str:
    """A function's signature, after its kind if it is not computed from one row."""
    return known.signature if known.kind == "function" else f"{known.kind} {known.signature}"


def _matches(words: Iterable[str], fragment: str, kind: str = "") -> SimpleMatcherResult:
    """The words that start with what is typed; inside our magics Python's names would only be noise.

    Args:
        words: all there are; or, where they differ in it, a mapping to what each is.
        fragment: what is typed.
        kind: what they all are.
    """
    folded = fragment.lower()
    kinds = dict(words) if isinstance(words, Mapping) and not kind else dict.fromkeys(words, kind)
    completions = [
        SimpleCompletion(word, type=what.replace(" ", UNBROKEN))
        for word, what in kinds.items()
        if word.lower().startswith(folded)
    ]
    return {"completions": completions, "suppress": True, "matched_fragment": fragment, "ordered": True}
