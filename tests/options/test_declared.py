"""Options are declared once: class, command line, settings file, help and Blender agree with the declaration."""

import argparse
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

import solver.options
from solver.base.errors import InvalidValue
from solver.cli.argument_types import add_options, given
from solver.options.declared import COUNT, JOBS, LIMIT, PART, SHARE, Declaration, Option, Options, Range, declarations

CLASSES: list[Any] = [
    kind
    for kind in (getattr(solver.options, name) for name in solver.options.__all__)
    if isinstance(kind, type) and issubclass(kind, Options) and kind is not Options
]
FIELDS = [(kind, each) for kind in CLASSES for each in declarations(kind).values()]


@dataclass(frozen=True, slots=True)
class Example(Options):
    """One option of each kind.

    Attributes:
        part: [m] how far; the rest is a remark.
        links: who. A remark.
        word: which.
        often: how often.
        on: whether.
    """

    part: Annotated[float | None, Option(PART)] = None
    links: Annotated[tuple[str, ...], Option()] = ()
    word: Annotated[str, Option(choices=("all", "paper"))] = "all"
    often: Annotated[int, Option(COUNT)] = 2
    on: Annotated[bool, Option()] = False


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("part", 1.0, "a number from 0 to below 1, not 1"),
        ("part", math.nan, "a number from 0 to below 1, not nan"),
        ("part", True, "a number from 0 to below 1, not True"),
        ("part", "x", "a number from 0 to below 1, not 'x'"),
        ("links", "trunk", "a tuple, not 'trunk'"),
        ("links", (1,), "a text, not 1"),
        ("word", "al", "one of all, paper, not 'al'. Did you mean 'all'?"),
        ("often", 2.5, "a whole number from 1 to 1000000, not 2.5"),
        ("often", 0, "a whole number from 1 to 1000000, not 0"),
        ("on", 1, "True or False, not 1"),
    ],
)
def test_what_is_not_declared_is_refused(field: str, value: Any, words: str) -> None:
    """The message names field, range and value; the command line says the same of a text."""
    with pytest.raises(InvalidValue) as refused:
        Example(**{field: value})
    assert str(refused.value) == f"{field} must be {words}"
    declared = declarations(Example)[field]
    if not isinstance(value, bool | tuple) and not declared.many and declared.kind is not bool and value == value:
        with pytest.raises(InvalidValue) as said:
            declared.parse(str(value))
        assert str(said.value) == f"must be {words}"


def test_ranges_with_a_special_value() -> None:
    """Infinity or -1 is accepted where it has a meaning, and the words say so."""
    assert [limits.contains(math.inf) for limits in (LIMIT, Range(0.0))] == [True, False]
    assert [JOBS.contains(number) for number in (-1, -2, 0)] == [True, False, False]
    assert JOBS.words == "a whole number from 1 to 1000000, or -1 for all processors"
    assert SHARE.words == "a number above 0 and up to 1"
    assert Range().words == "a finite number"


def test_words_come_from_the_docstring() -> None:
    """Unit in brackets, meaning up to the first semicolon or full stop."""
    found = declarations(Example)
    assert (found["part"].unit, found["part"].meaning, found["part"].optional) == ("m", "how far", True)
    assert (found["links"].unit, found["links"].meaning) == ("", "who")


def parsed(kind: type, words: list[str]) -> dict[str, Any]:
    """What a command line gives for the options of a class."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_options(parser, kind)
    return given(parser.parse_args(words), kind)


def test_only_what_was_given_is_returned() -> None:
    """Everything else keeps the default of the class."""
    assert parsed(Example, []) == {}
    line = "--part 0.5 --links a b --word paper --often 3 --on"
    assert Example(**parsed(Example, line.split())) == Example(0.5, ("a", "b"), "paper", 3, True)


def samples(declared: Declaration) -> Iterator[Any]:
    """A value inside the range and one outside, None where there is none."""
    limits = declared.option.range
    if declared.is_number:
        inside = [x for x in (declared.default, limits.low, limits.high, 1, 2, 0.5, 90) if x is not None]
        yield next(x for x in inside if limits.contains(x) and math.isfinite(x))
        yield next(x for x in (limits.low - 1.0, limits.high + 1.0, math.nan) if not limits.contains(x))
    else:
        yield next(iter(declared.choices), True if declared.kind is bool else "name")
        yield 0 if declared.kind is bool or not declared.choices else "no such choice"


@pytest.mark.parametrize(("kind", "declared"), FIELDS, ids=lambda x: getattr(x, "name", getattr(x, "__name__", x)))
def test_every_option_of_every_class(kind: type, declared: Declaration) -> None:
    """The class refuses what lies outside; a command-line option has help with its unit and gives what was written."""
    inside, outside = samples(declared)
    declared.check((inside,) if declared.many else inside)
    with pytest.raises(InvalidValue, match=f"{declared.name} must be"):
        kind(**{declared.name: (outside,) if declared.many else outside})
    assert declared.kind is not bool or declared.optional or declared.default is False
    assert declared.kind is not int or declared.option.range.whole
    if declared.option.in_code_only:
        return
    parser = argparse.ArgumentParser()
    add_options(parser, kind)
    action = parser._option_string_actions[declared.flag]
    assert declared.meaning in str(action.help)
    plain = argparse.ArgumentParser()
    add_options(plain, kind, usual=False)
    assert plain._option_string_actions[declared.flag].help == declared.meaning
    assert declared.unit in ("", "1/s") or str(action.metavar).lower() == declared.unit
    words = [] if declared.kind is bool else [str(inside)]
    assert parsed(kind, [declared.flag, *words]) == {declared.name: (inside,) if declared.many else inside}


def test_options_are_light() -> None:
    """Command line and Blender make options when they start, before numerical libraries are loaded."""
    code = "import solver, sys; solver.CheckOptions(); print({'numpy', 'scipy', 'pinocchio'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
