"""Options declared once: class, command line, settings file, Blender, help and documentation read one declaration.

A field ``shrink: Annotated[float, Option(PART)] = 0.0`` of an `Options` class has its range and choices in the
annotation, its unit and meaning in the ``Attributes`` of the class: ``shrink: [m] meaning; remark``.
"""

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import cache
from inspect import cleandoc
from math import inf, isfinite
from numbers import Integral, Real
from typing import Annotated, Any, get_args, get_origin

from ..base.errors import InvalidValue, suggest
from ..base.numerals import numeral

WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
ATTRIBUTE = re.compile(r"^    (\w+): (?:\[([^]]+)\] ?)?(.*(?:\n {8}.*)*)", re.MULTILINE)
"""Entry of the ``Attributes`` of a docstring: name, unit and words."""
ALSO = {inf: "for no limit", -1: "for all processors", 0: "for none"}
KIND_WORDS = {bool: "True or False", str: "a text"}
FIRST_CLAUSE = re.compile(r"[^;]*?(?=;|\.(?:\s|$)|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``.

    Attributes:
        low: smallest number.
        high: largest number.
        above: ``low`` itself is refused.
        below: ``high`` itself is refused.
        whole: whole numbers only.
        also: accepted besides them: infinity for no limit, -1 for all processors, 0 for none.
    """

    low: float = -inf
    high: float = inf
    above: bool = False
    below: bool = False
    whole: bool = False
    also: float | None = None

    def contains(self, value: Any) -> bool:
        """Whether a value is a number in the range."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number: Any = value
        low = self.low < number if self.above else self.low <= number
        high = number < self.high if self.below else number <= self.high
        inside = low and high and isfinite(number) and (not self.whole or isinstance(number, Integral))
        return inside or number == self.also

    def check(self, value: Any) -> None:
        """Refuse what is no number in the range.

        Raises:
            InvalidValue: says the range.
        """
        if not self.contains(value):
            plain = isinstance(value, Real) and not isinstance(value, bool)
            raise InvalidValue(f"must be {self.words}, not {f'{value:.10g}' if plain else repr(value)}")

    def parse(self, text: str) -> Any:
        """The number that a text of the command line or a settings file denotes.

        Raises:
            InvalidValue: no number in the range.
        """
        value: Any = text.strip()
        with suppress(ValueError):
            if self.also is not None and value == f"{self.also:g}":
                return self.also
            value = int(value) if self.whole and WHOLE.fullmatch(value) else numeral(value)
        self.check(value)
        return value

    @property
    def words(self) -> str:
        """The range in words: ``"a number above 0 and up to 1"``."""
        words = "a whole number" if self.whole else "a number" if isfinite(self.high) else "a finite number"
        if isfinite(self.low):
            words += f" {'above' if self.above else 'from'} {self.low:.10g}"
        if isfinite(self.high):
            words += f" {'and up to' if self.above else 'to'}{' below' if self.below else ''} {self.high:.10g}"
        return words if self.also is None else f"{words}, or {self.also:g} {ALSO[self.also]}"


ANY = Range()
POSITIVE = Range(0.0, above=True)
"""By definition."""
NOT_NEGATIVE = Range(0.0)
"""By definition."""
LIMIT = Range(0.0, above=True, also=inf)
"""By definition; infinite is no limit."""
SHARE = Range(0.0, 1.0, above=True)
"""By definition."""
PART = Range(0.0, 1.0, below=True)
"""By definition."""
COUNT, NATURAL = Range(1, 10**6, whole=True), Range(0, 10**6, whole=True)
SEED = Range(0, 2**32 - 1, whole=True)
"""By definition of 32 bits."""
JOBS = Range(1, 10**6, whole=True, also=-1)


@dataclass(frozen=True, slots=True)
class Option:
    """What the annotation of a field declares beside its type.

    Attributes:
        range: of a number.
        choices: of a text, or a function that returns them; empty: any text.
        usual: words for the default in the help, where it depends on the body.
        label: name of the field in Blender.
        slider: range of a slider in Blender, in the field's unit, inside ``range``.
        common: listed by ``--help``; the others by ``--help-all``.
        in_code_only: the command line has no such option.
    """

    range: Range = ANY
    choices: Collection[Any] | Callable[[], Collection[Any]] = ()
    usual: str = ""
    label: str = ""
    slider: tuple[float, float] | None = None
    common: bool = False
    in_code_only: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """An option as its class declares it.

    Attributes:
        name: of the field.
        kind: ``float``, ``int``, ``bool`` or ``str``.
        optional: whether None is a value.
        many: whether the value is a tuple of ``kind``.
        pairs: whether the value may be a tuple of pairs instead.
        default: of the field.
        option: of the annotation.
        unit: ``"m"``; empty if it has none.
        meaning: the words of the docstring up to the first semicolon or full stop.
        remark: the words behind them.
    """

    name: str
    kind: type
    optional: bool
    many: bool
    pairs: bool
    default: Any
    option: Option
    unit: str
    meaning: str
    remark: str

    @property
    def flag(self) -> str:
        """The command line's name."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def choices(self) -> Collection[Any]:
        """Accepted texts; empty: any text."""
        return self.option.choices() if callable(self.option.choices) else self.option.choices

    @property
    def is_number(self) -> bool:
        """Whether a value, or each of them, is a number."""
        return self.kind in (int, float)

    @property
    def words(self) -> str:
        """What is accepted: ``"a number above 0"``, ``"one of all, paper"``."""
        if self.is_number:
            return self.option.range.words
        return f"one of {', '.join(self.choices)}" if self.choices else KIND_WORDS[self.kind]

    @property
    def usual(self) -> str:
        """The default with its unit; empty if there is none."""
        if self.option.usual or self.kind is bool or self.default in (None, ()):
            return self.option.usual
        return f"{self.default:.10g} {self.unit}".rstrip() if self.is_number else str(self.default)

    def check(self, value: Any) -> None:
        """Refuse a value that the declaration does not admit.

        Raises:
            InvalidValue: says what is accepted.
        """
        if (value is None and self.optional) or (self.pairs and isinstance(value, tuple)):
            return
        if self.many and not isinstance(value, tuple):
            raise InvalidValue(f"must be a tuple, not {value!r}")
        values: tuple[Any, ...] = value if self.many else (value,)
        for one in values:
            if self.is_number:
                self.option.range.check(one)
            elif not isinstance(one, self.kind) or (self.choices and one not in self.choices):
                near = suggest(one, self.choices)
                raise InvalidValue(f"must be {self.words}, not {one!r}" + (near and f".{near}"))

    def parse(self, text: str) -> Any:
        """One value of a text of the command line or a settings file.

        Raises:
            InvalidValue: says what is accepted.
        """
        if self.is_number:
            return self.option.range.parse(text)
        self.check((text,) if self.many else text)
        return text


class Options:
    """Base of the classes whose fields are options; checks them when a value is made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        kind: type = type(self)
        for field in fields(kind):
            if isinstance(field.type, type) and not isinstance(getattr(self, field.name), field.type):
                raise InvalidValue(
                    f"{field.name} takes solver.{field.type.__name__}, not {getattr(self, field.name)!r}"
                )
        for name, declared in declarations(kind).items():
            try:
                declared.check(getattr(self, name))
            except InvalidValue as error:
                raise InvalidValue(f"{name} {error}") from None
        self.require_consistent()

    def require_consistent(self) -> None:
        """Rules of several fields.

        Raises:
            InvalidValue: two fields contradict each other.
        """


@cache
def declarations(kind: type) -> dict[str, Declaration]:
    """The options of a class by name, in its order."""
    text_of = cleandoc(kind.__doc__ or "")  # Python 3.13 has taken the indentation
    words = {name: (unit, text) for name, unit, text in ATTRIBUTE.findall(text_of)}
    found = {}
    for field in fields(kind):
        if isinstance(field.type, str):
            raise TypeError(f"{kind.__name__}: options cannot be read from a file with postponed annotations")
        if get_origin(field.type) is not Annotated:
            continue
        declared, option = get_args(field.type)
        kind_of = get_args(declared) or (declared,)
        many = get_origin(declared) is tuple
        unit, text = words[field.name][0], " ".join(words[field.name][1].split())
        meaning = FIRST_CLAUSE.match(text)[0]  # type: ignore[index]
        found[field.name] = Declaration(
            field.name,
            kind_of[0],
            type(None) in kind_of,
            many,
            not many and any(get_origin(each) is tuple for each in kind_of),
            None if field.default is MISSING else field.default,
            option,
            unit,
            meaning,
            text.removeprefix(meaning).rstrip("."),
        )
    return found
