"""Commands of the ``%argus`` magic, and how the line that calls one is parsed.

A command is data: its name, its summary, its arguments and the function that runs it. Help and completion read the same
data.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.errors import MagicError, nearest
from workbench.notebook.option_names import HOW_GIVEN, SYNONYMS

if TYPE_CHECKING:
    from workbench.notebook.context import NotebookContext

    CommandFunction = Callable[[NotebookContext, argparse.Namespace], None]

CELL_HINT = "a name of one word, and the SQL in the lines below: %%argus big_transfers; %argus help says more"


_LAST_PORT = 65535
_FEW_OPTIONS = 25
"""Options that are listed where one is not known."""
_LINKING = ("to", "into", "in", "from", "on", "of", "as", "by", "with", "and", "when", "if", "the", "named", "=")
"""Words that link the arguments of a command in a sentence, and have no place in its line."""
_OF_OTHERS = ("cascade", "restrict", "force", "all", "query", "queries", "stream", "streams", "table", "now", "please")
"""Words behind a name that are no second one, as ``DROP name CASCADE`` of SQL has them."""
_KINDS = ("query", "stream", "table", "view", "file", "folder", "batch", "batches", "rows", "column", "parquet", "csv")
"""Words that say what the next one is, where its place says it."""
_TAKEN = {
    "new_variable": ("the name of a variable", "answer"),
    "natural_number": ("a whole number, 0 or more", "20"),
    "port_number": ("a port, 0 to 65535", "8090"),
}
"""What values are that a function reads, by its name, and one of them; others are whole numbers."""
_TO_THE_END = ("all", "until", "end", "forever", "everything", "rest", "max", "to")
"""What is typed where batches are counted, and means all of them."""
_OPENING = r"^(where\s+|(when|if)\s+(?=[\w`\"]))"
"""What begins a condition in a sentence."""
_TYPED = re.compile(r"""(?:'[^']*'|"[^"]*"|[^ \t\r\n'"])+""")
"""A word with its quotes."""


@dataclass(frozen=True)
class Argument:
    """One argument of a command.

    Attributes:
        flags: the name of a positional argument, or the spellings of an option.
        settings: further arguments of ``argparse.ArgumentParser.add_argument``.
        completes: the kind of its values, for completion: ``query``, ``stream``, ``dialect``, ``command``, ``path``.
    """

    flags: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    completes: str = ""

    @property
    def is_option(self) -> bool:
        """Whether it is given by ``--name`` and not by its place."""
        return self.flags[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        """Whether a word follows the option."""
        return self.settings.get("action") != "store_true"


def argument(*flags: str, completes: str = "", **settings: Any) -> Argument:
    """An :class:`Argument`; ``settings`` go to ``argparse``."""
    return Argument(flags, settings, completes)


def batch_size(given: str) -> int | str:
    """A size of batches as it was typed: a number of rows, or a length of event time."""
    return int(given) if given.lstrip("-").isdecimal() else given


def new_variable(given: str) -> str:
    """The name of a variable that an answer is to have.

    Raises:
        ValueError: it is no name.
    """
    if not given.isidentifier():
        raise ValueError(given)
    return given


def number_of_batches(given: str) -> int:
    """The number of batches that a word says.

    Raises:
        MagicError: all that there are were asked for, which another command does.

    Example:
        >>> number_of_batches("5")
        5
    """
    if given.lower() in _TO_THE_END:
        hint = "%argus play --speed max goes on to the end; %argus run 1000 ends where no rows are left"
        raise MagicError(f"%argus run: N is a whole number, not {given!r}", hint=hint)
    return int(given)


def natural_number(given: str) -> int:
    """A number of things, 0 or more.

    Raises:
        ValueError: it is none.
    """
    if not given.isdecimal():
        raise ValueError(given)
    return int(given)


def port_number(given: str) -> int:
    """The number of a port.

    Raises:
        ValueError: it is none.
    """
    if not given.isdecimal() or int(given) > _LAST_PORT:
        raise ValueError(given)
    return int(given)


def several(given: str) -> list[str]:
    """Names that were typed in one word, with commas between them.

    Example:
        >>> several("device,at"), several("id")
        (['device', 'at'], ['id'])
    """
    return [name.strip() for name in given.split(",")]


@dataclass(frozen=True)
class Command:
    """A subcommand of ``%argus``, or the cell magic itself.

    Attributes:
        name: the word after ``%argus``.
        summary: one sentence.
        run: runs it with the notebook's context and the parsed arguments.
        arguments: in the order in which they are given.
        examples: lines as they are typed.
        has_own_line: whether it says itself how far it is, when it takes long.
    """

    name: str
    summary: str
    run: CommandFunction
    arguments: tuple[Argument, ...] = ()
    examples: tuple[str, ...] = ()
    has_own_line: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Every spelling of every option."""
        return tuple(flag for a in self.arguments if a.is_option for flag in a.flags)

    def parse(self, line: str) -> argparse.Namespace:
        """The line after the command's name as its arguments.

        Raises:
            MagicError: something is missing, unknown or of the wrong type.
        """
        parser = self._parser()
        words = _split(line)
        # argparse would take the word after an unknown option for an argument, so unknown options are refused first;
        # except where the rest of the line goes to another parser.
        takes_rest = any(each.settings.get("nargs") == argparse.REMAINDER for each in self.arguments)
        if not takes_rest:
            self._check_options(words, parser)
        try:
            parsed = parser.parse(words, lambda unknown: self._meant(words, unknown))
        except MagicError as error:
            linked = [word for word in words if word.lower() not in _LINKING]
            if linked == words or not self._reads(linked):
                raise
            raise MagicError(error.message, hint=f"{self._line(linked)}; %argus help {self.name}") from None
        for each in self.arguments:
            if each.completes == "query" and each.settings.get("nargs") in ("+", "*"):
                self._check_names(getattr(parsed, each.flags[0])[1:])
        return parsed

    def _check_options(self, words: list[str], parser: Parser) -> None:
        """Refuse options that are unknown, that have a value and take none, or none and take one, or stand twice."""
        given = set[str]()
        for word, following in zip(words, [*words[1:], None], strict=False):
            flag, equals, value = word.partition("=")
            if not word.startswith("--"):
                continue
            option = next((each for each in self.arguments if flag in each.flags), None)
            if option is None:
                parser.refuse(word, self._meant(words, word))
            if not option.takes_value and equals:
                parser.error(f"{flag} takes no value", f"leave {equals}{value} out")
            if option.takes_value and "nargs" not in option.settings:
                if "" in ((value,) if equals else (following,)):
                    parser.error(f"nothing stands between the quotes behind {flag}", parser.value_of(flag))
                if flag in given and "action" not in option.settings:
                    parser.error(f"{flag} stands twice", "leave one of them out")
            given.add(flag)

    def _check_names(self, names: Sequence[str]) -> None:
        for word in names:
            plain = word.lower().removesuffix("ending")
            if (option := f"--{plain.replace('order', 'sort').replace('asc', 'desc')}") in self.options:
                hint = "it is so without --desc" if plain == "asc" else f"it is an option, {option}"
                raise MagicError(f"there is no query {word}", hint=f"{hint}; %argus help {self.name}")

    def _meant(self, words: list[str], unknown: str) -> str:
        """What may be meant by a line with an unknown word; empty where nothing is known."""
        at = len(words) - 1 - words[::-1].index(unknown)
        after, before = words[at + 1 : at + 2], words[at - 1] if at else ""
        if unknown == "--replace" and self.name.startswith("%"):
            return "a cell with the name of a query takes its place: leave --replace out"
        if self.name == "streams" and not unknown.startswith("-"):
            return f"%argus stream {' '.join(words)} adds one"
        option, equals, value = unknown.partition("=")
        if f"--{option.lower()}" in self.options:
            dashed = [*words[:at], f"--{option.lower()}{equals}{value}", *words[at + 1 :]]
            return f"options begin with --: {self._line(dashed)}"
        if before.startswith("--") and not any(each.takes_value for each in self.arguments if before in each.flags):
            return f"{before} takes no value: leave {unknown} out"
        if (number := unknown.lstrip("-")).isdecimal() and self._reads([*words[:at], number, *words[at + 1 :]]):
            return self._line([*words[:at], number, *words[at + 1 :]])
        if unknown.startswith("-"):
            is_alone = bool(after) and after[0].isdecimal() and self._reads([*words[:at], *words[at + 1 :]])
            return f"{self._line([*words[:at], *words[at + 1 :]])}, without {unknown}" if is_alone else ""
        beside = {place for place, word in enumerate(words) if word.lower() in (*_LINKING, *_KINDS)}
        left_out = [{place} for place in sorted(beside)] + [beside] * bool(beside)
        unlinked = ([word for at, word in enumerate(words) if at not in places] for places in left_out)
        if (read := next(filter(self._reads, unlinked), None)) is not None:
            return self._line(read)
        placed = [each for each in self.arguments if not each.is_option]
        option_before = next((each for each in self.arguments if words[max(0, at - 2)] in each.flags), None)
        if option_before is not None and "=" not in before and "=" in option_before.settings.get("metavar", ""):
            return f"{words[at - 2]} {before}={unknown}"
        if words[0].lower() in ("select", "with") and placed and placed[0].completes == "query":
            return "it takes the name of a query; %%argus NAME, with the SQL in the lines below, registers one"
        several = [*words[:at], words[max(0, at - 2)], *words[at:]]
        repeats = option_before is not None and option_before.settings.get("action") in ("extend", "append")
        if repeats and ("=" in before) == ("=" in unknown) and self._reads(several):
            return self._line(several)
        if before and (words[max(0, at - 2)].startswith("--") or any(each.completes == "path" for each in placed)):
            return f'if "{before} {unknown}" is one value, it stands in quotes'
        if unknown.lower() in ("select", "with"):
            return f"the SQL stands in the lines below %%argus {before}"
        if before.lower() == "all":
            return "it takes one name at a time"
        if len(placed) == 1 and placed[0].completes and unknown.lower() not in _OF_OTHERS:
            before = before.rstrip(",")
            each = f"{self._line([before])}, then {self._line([unknown])}"
            return f'one at a time: {each}; "{before} {unknown}" in quotes is one name'
        return self._line(words[:at]) if self._reads(words[:at]) and not words[at + 1 :] else ""

    def _reads(self, words: list[str]) -> bool:
        """Whether words can be the arguments."""
        try:
            self._parser().parse(words)
        except MagicError:
            return False
        return True

    def _line(self, words: Sequence[str]) -> str:
        """The line that calls the command with words as they were typed."""
        prefix = self.name if self.name.startswith("%") else f"%argus {self.name}"
        return " ".join([prefix, *(word.typed if isinstance(word, Word) else word for word in words)])

    def help(self) -> str:
        """Usage, arguments and examples as text."""
        examples = "".join(f"\n  {line}" for line in self.examples)
        return self._parser().format_help().rstrip() + (f"\n\nexamples:{examples}" if examples else "")

    def _parser(self) -> Parser:
        parser = Parser(self.name, self.summary, self.examples)
        for each in self.arguments:
            parser.add_argument(*each.flags, **each.settings)
        return parser


def command(
    name: str, *arguments: Argument, examples: tuple[str, ...] = (), has_own_line: bool = False
) -> Callable[[CommandFunction], Command]:
    """Make a function a :class:`Command` whose summary is the first paragraph of its docstring."""

    def decorate(function: CommandFunction) -> Command:
        summary = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        return Command(name, summary, function, arguments, examples, has_own_line)

    return decorate


class Parser(argparse.ArgumentParser):
    """A parser that raises, where argparse would end the process.

    Args:
        name: of the command.
        summary: what it does.
        examples: lines as they are typed.
    """

    def __init__(self, name: str, summary: str | None = None, examples: Sequence[str] = ()) -> None:
        super().__init__(
            prog=name if name.startswith("%") else f"%argus {name}",
            description=summary,
            add_help=False,
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
        )
        self._name, self._examples = name, examples

    def parse(self, words: list[str], meant: Callable[[str], str] = lambda unknown: "") -> argparse.Namespace:
        """The words as arguments.

        Args:
            words: of the line.
            meant: what the line may mean, for its first unknown word.

        Raises:
            MagicError: something is missing, unknown or of the wrong type.
        """
        # A list of words, such as a condition, may stand behind an option; the rest of a line goes to another parser.
        takes_rest = any(action.nargs == argparse.REMAINDER for action in self._actions)
        parse = self.parse_known_args if takes_rest else self.parse_known_intermixed_args
        arguments, unknown = parse(words)
        if unknown:
            self.refuse(unknown[0], meant(unknown[0]))
        return arguments

    def refuse(self, word: str, meant: str = "") -> NoReturn:
        """Raise for an unknown word, with the option nearest to it, or those that there are where they are few.

        Args:
            word: the unknown one.
            meant: what the line may mean, where no option is near.
        """
        options = {flag.lstrip("-"): flag for flag in self._option_string_actions}
        near = nearest(word.lstrip("-"), options, shown=options.__getitem__) if word.startswith("-") else None
        begun = (f"did you mean {flag}?" for name, flag in options.items() if len(name) > 1 and word.startswith(flag))
        named = SYNONYMS.get(word.lstrip("-").partition("=")[0].lower(), "") if word.startswith("--") else ""
        named = named if named in options else ""
        how = word.startswith("--") and HOW_GIVEN.get(named + word[2:].partition("=")[0])
        near = f"{how}; {self._help}" if how else near
        near = near or next(begun, None) or (f"did you mean {options[named]}?" if named else None)
        if re.fullmatch(r"-[a-z]", word) and not near:
            begins = [flag for name, flag in options.items() if name.startswith(word[1])]
            near = f"did you mean {' or '.join(begins)}?" if begins else None
        listed = ", ".join(options.values()) if word.startswith("-") and 0 < len(options) <= _FEW_OPTIONS else ""
        known = meant or (listed and f"it has {listed}")
        what = f"there is no option {word}" if word.startswith("--") else f"{word} is not understood"
        self.error(what, near or (known and f"{known}; {self._help}"))

    def error(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        if wrong := re.fullmatch(r"argument (\S+): invalid (\w+) value: (.*)", message):
            kind, like = _TAKEN.get(wrong[2], ("a whole number", "3"))
            message = f"{wrong[1]} is {kind}, not {wrong[3]}"
            flag = next((f" {word}" for word in wrong[1].split("/") if word.startswith("--")), "")
            hint = hint or self._as_in(flag or " \\d") or self._as_value(f"{flag} {like}")
        if wrong := re.fullmatch(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message):
            message = f"{wrong[1]} is {'one of ' * (',' in wrong[3])}{wrong[3]}, not {wrong[2]}"
            choices = wrong[3].replace("'", "").split(", ")
            hint = hint or nearest(wrong[2], choices) or self._as_value(f" {wrong[1].split('/')[-1]} {choices[-1]}")
        if lacks := re.fullmatch(r"argument (\S+): expected (?:one|at least one) argument", message):
            flag = lacks[1].split("/")[-1]
            message, hint = f"nothing follows {lacks[1]}", hint or self._as_in(f"{flag} ") or self.value_of(flag)
        if missing := re.fullmatch(r"(the following arguments are required: )(.*)", message):
            needed = [a.metavar for a in self._actions if a.nargs not in ("*", "?") and not a.option_strings]
            message = missing[1] + ", ".join(name for name in missing[2].split(", ") if name in needed)
            hint = hint or self._as_in("")
        raise MagicError(f"{self.prog}: {message}", hint=hint or self._help)

    def _as_in(self, flag: str) -> str:
        """The first example with an option, or of another pattern."""
        example = next((line for line in self._examples if re.search(flag, line)), "")
        return f"as in {example}; {self._help}" if example and not self._name.startswith("%") else ""

    def value_of(self, flag: str) -> str:
        """A hint with the value that an option takes, from its help."""
        action = self._option_string_actions[flag]
        shown = action.metavar or (next(iter(action.choices), None) if action.choices else None)
        return f"{flag} {shown}: {action.help}; {self._help}"

    def _as_value(self, option: str) -> str | None:
        """An option of the cell with a value that it can have; of a command help shows it."""
        return f"as in{option}" if self._name.startswith("%") else None

    @property
    def _help(self) -> str:
        return CELL_HINT if self._name.startswith("%") else f"%argus help {self._name.split()[0]}"


class Word(str):
    """A word of a line, without the quotes that group it; ``typed`` has them."""

    typed: str


def _split(line: str) -> list[str]:
    r"""The words of a line; quotes group, backslashes are kept since Windows paths have them.

    Each is a :class:`Word`.

    Raises:
        MagicError: a quote is not closed.

    Example:
        >>> _split(r"stream fed 'my data\fed.parquet'")
        ['stream', 'fed', 'my data\\fed.parquet']
    """
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    try:
        words = list(map(Word, lexer))
    except ValueError:
        raise MagicError("a quote is not closed", sql=line, position=len(line.rstrip())) from None
    for word, typed in zip(words, _TYPED.findall(line), strict=True):
        word.typed = typed
    return [*words]


def condition(words: Sequence[str]) -> str:
    """Words that together are a condition: as typed, without WHERE, WHEN or IF before it and quotes around all of it.

    Raises:
        MagicError: there is nothing in them.

    Example:
        >>> condition(_split("amount > 5")), condition(_split("'amount > 5'")), condition(_split("WHERE x = 'a  b'"))
        ('amount > 5', 'amount > 5', "x = 'a  b'")
    """
    typed = [word.typed if isinstance(word, Word) else word for word in words]
    if not "".join(words).strip():
        raise MagicError("the condition is empty", hint="as in amount > 5")
    around = len(typed) == 1 and typed[0][0] in "'\"" and typed[0].find(typed[0][0], 1) == len(typed[0]) - 1
    return re.sub(_OPENING, "", words[0] if around else " ".join(typed), flags=re.IGNORECASE)
