"""Settings files: any option of a verb in TOML, read with ``--settings`` and written beside every result.

A key is the name of an option without its dashes, ``free-moment`` or ``free_moment``; a switch is true or false, an
option that takes several values a list. The command line overrides the file.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import InputError, InvalidValue, suggest
from ..base.files import read_bytes

SETTINGS = "settings.toml"
"""File in a folder of results that repeats the run: ``--settings settings.toml``."""
OPTION = "--settings"
REMEDY = "Each key is an option of the verb; --help-all lists them"
NOT_STORED = {"help", "help_all", "settings", "progress", "quiet", "json", "output", "version", "verb"}
"""What belongs to one run, not to its settings."""


def find_settings_file(arguments: Sequence[str]) -> Path | None:
    """The file that ``--settings`` names on a command line, if it is there; the last one counts."""
    found = None
    for word, following in zip(arguments, [*arguments[1:], ""]):
        if word == OPTION and following:
            found = Path(following)
        elif word.startswith(f"{OPTION}="):
            found = Path(word.partition("=")[2])
    return found


def apply_settings_file(parser: argparse.ArgumentParser, path: Path) -> None:
    """Make the values of a settings file the defaults of a verb's parser.

    Raises:
        InputError: the file is missing or no TOML, a key is no option of the verb, or a value does not fit.
    """
    try:
        tree = tomllib.loads(read_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, f"is no TOML: {error}", remedy=REMEDY) from error
    actions = {_key(name): action for name, action in parser._option_string_actions.items() if _is_stored(action)}
    for key, value in tree.items():
        action = actions.get(_key(key))
        if action is None:
            known = sorted(map(_name, _stored_actions(parser)))
            problem = f"has an unknown setting {key!r}.{suggest(_key(key), known)} Known: {', '.join(known)}"
            raise InputError(path, problem, remedy=REMEDY)
        try:
            converted = _convert(action, value)
        except (argparse.ArgumentTypeError, InvalidValue, TypeError, ValueError) as error:
            raise InputError(path, f"{key} = {json.dumps(value, default=str)}: {error}", remedy=REMEDY) from error
        parser.set_defaults(**{action.dest: converted})
        action.required = False


def settings_text(parser: argparse.ArgumentParser, options: argparse.Namespace) -> str:
    """All settings of a run that are not the defaults, as a settings file."""
    lines = [f"# {options.verb}: python -m solver {options.verb} ... {OPTION} {SETTINGS}"]
    for action in _stored_actions(parser):
        value = getattr(options, action.dest)
        if value != action.default and value is not None:
            lines.append(f"{_name(action)} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def show_only(parser: argparse.ArgumentParser, *visible: str) -> None:
    """Show these options and the common ones in ``--help``; the rare ones are for settings files and ``--help-all``.

    Args:
        parser: of the verb, complete.
        visible: destinations of the options to show, such as ``flight_only``.
    """
    actions = {action.dest: action for action in parser._actions if action.option_strings}
    common = {"help", "help_all", "settings", "progress", "output", *visible}
    assert set(actions).issuperset(visible), f"no option {sorted(set(visible) - set(actions))}"
    common |= {name for name, each in actions.items() if hasattr(each, "declared") and each.declared.option.common}
    hidden = [each for name, each in actions.items() if name not in common]
    parser.set_defaults(hidden=tuple((action, action.help) for action in hidden))
    for action in hidden:
        action.help = argparse.SUPPRESS
    for group in parser._action_groups:
        if group._group_actions and all(action.help == argparse.SUPPRESS for action in group._group_actions):
            group.description, group.title = None, None


def show_all(parser: argparse.ArgumentParser) -> None:
    """Show the options that `show_only` has hidden."""
    for action, text in parser.get_default("hidden") or ():
        action.help = text


def _stored_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    return filter(_is_stored, parser._actions)


def _is_stored(action: argparse.Action) -> bool:
    return bool(action.option_strings) and action.dest not in NOT_STORED


def _name(action: argparse.Action) -> str:
    return _key(action.option_strings[-1])


def _key(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _convert(action: argparse.Action, value: Any) -> Any:
    """A value of the file as the command line would give it."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise TypeError("is a switch: true or false")
        return action.const if value else action.default
    if isinstance(value, Mapping | bool) or (isinstance(value, list) and action.nargs is None):
        raise TypeError("takes one value" if action.nargs is None else "takes a list")
    converted = [_convert_one(action, item) for item in (value if isinstance(value, list) else [value])]
    return converted[0] if action.nargs is None else converted


def _convert_one(action: argparse.Action, item: Any) -> Any:
    if isinstance(item, list | Mapping | bool):
        raise TypeError("takes numbers or text")
    found = action.type(str(item)) if callable(action.type) else str(item)
    if action.choices is not None and found not in action.choices:
        raise ValueError(f"choose from {', '.join(map(str, action.choices))}")
    return found


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(str(value), ensure_ascii=False)
