"""``completion``: a script with which a shell completes verbs, options and their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping

from ..base.progress import Progress
from .options import add_verb

EXPLANATION = """
Prints a script for bash, zsh or fish that completes verbs, options and their choices, and files elsewhere. It starts
no Python while you type; make it again after an update. Write it to
  bash  ~/.local/share/bash-completion/completions/exciting-dance
  zsh   _exciting-dance in a folder of $fpath
  fish  ~/.config/fish/completions/exciting-dance.fish

Example:
  python -m solver completion bash
"""
COMMAND = "exciting-dance"
"""The command that pip installs."""

Choices = Mapping[str, tuple[str, ...] | None]
"""Values of each option of a verb; empty where any may follow, None where none does. Those of an argument without
option are under an empty name."""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    summary = "print a script with which a shell completes verbs and options"
    parser = add_verb(verbs, "completion", summary, EXPLANATION, run)
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Print the script."""
    from . import parser

    verbs = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    summaries = {str(each.dest): str(each.help) for each in verbs._choices_actions}
    print(SCRIPTS[options.shell](summaries, {name: _find_options(verbs.choices[name]) for name in summaries}), end="")


def _find_options(parser: argparse.ArgumentParser) -> Choices:
    """Options of a verb with their choices."""
    return {
        name: None if action.nargs == 0 else _list_choices(action)
        for action in parser._actions
        if action.help != argparse.SUPPRESS or _is_rare(parser, action)
        for name in action.option_strings or ("",)
    }


def _list_choices(action: argparse.Action) -> tuple[str, ...]:
    """Values of an option, if they are listed; a range of numbers is not."""
    choices = action.declared.choices if hasattr(action, "declared") else action.choices
    return () if choices is None or isinstance(choices, range) else tuple(map(str, choices))


def _is_rare(parser: argparse.ArgumentParser, action: argparse.Action) -> bool:
    """Whether ``--help-all`` shows an option."""
    return any(hidden is action and words != argparse.SUPPRESS for hidden, words in parser.get_default("hidden") or ())


def _bash(summaries: Mapping[str, str], options: Mapping[str, Choices]) -> str:
    lines = [
        "_exciting_dance() {",
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words=",
        "    COMPREPLY=()",
        f'    if [ "$COMP_CWORD" = 1 ]; then words="{" ".join(summaries)}"',
        "    else",
        '        case "$verb $previous" in',
        *(f'            "{verb} {name}") words="{" ".join(values)}" ;;' for verb, name, values in _limited(options)),
        '            *) if [[ $current == -* ]]; then case "$verb" in',
        *(f'                {verb}) words="{" ".join(filter(None, own))}" ;;' for verb, own in options.items()),
        '            esac; else case "$verb" in',
        *(f'                {verb}) words="{" ".join(values)}" ;;' for verb, values in _arguments(options)),
        "            esac; fi ;;",
        "        esac",
        "    fi",
        '    [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "}",
        f"complete -o default -F _exciting_dance {COMMAND}",
    ]
    return "\n".join(lines) + "\n"


def _zsh(summaries: Mapping[str, str], options: Mapping[str, Choices]) -> str:
    listed = " ".join(_quote(f"{verb}:{words}") for verb, words in summaries.items())
    lines = [
        f"#compdef {COMMAND}",
        "_exciting_dance() {",
        "    local -a verbs",
        f"    verbs=({listed})",
        "    if (( CURRENT == 2 )); then _describe verb verbs; return; fi",
        '    case "$words[2] $words[CURRENT-1]" in',
        *(
            f'        ("{verb} {name}") compadd -- {" ".join(values)}; return ;;'
            for verb, name, values in _limited(options)
        ),
        "    esac",
        "    if [[ $words[CURRENT] == -* ]]; then case $words[2] in",
        *(f"        ({verb}) compadd -- {' '.join(filter(None, own))} ;;" for verb, own in options.items()),
        "    esac; else case $words[2] in",
        *(f"        ({verb}) compadd -- {' '.join(values)} ;;" for verb, values in _arguments(options)),
        "        (*) _files ;;",
        "    esac; fi",
        "}",
        'if [ "$funcstack[1]" = "_exciting-dance" ]; then _exciting_dance "$@"; else compdef _exciting_dance '
        f"{COMMAND}; fi",
    ]
    return "\n".join(lines) + "\n"


def _fish(summaries: Mapping[str, str], options: Mapping[str, Choices]) -> str:
    start = f"complete -c {COMMAND}"
    lines = [f"{start} -n __fish_use_subcommand -f -a {verb} -d {_quote(words)}" for verb, words in summaries.items()]
    for verb, own in options.items():
        seen = f"{start} -n '__fish_seen_subcommand_from {verb}'"
        for name, values in own.items():
            flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" if name else ""
            takes = "" if values is None else f" -x -a {_quote(' '.join(values))}" if values else " -r"
            if flag or values:
                lines.append(f"{seen} {flag}{takes}" if flag else f"{seen} -f -a {_quote(' '.join(values or ()))}")
    return "\n".join(lines) + "\n"


SCRIPTS: dict[str, Callable[[Mapping[str, str], Mapping[str, Choices]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
"""One row a shell."""


def _limited(options: Mapping[str, Choices]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Verb, option and values of each option that has choices."""
    for verb, own in options.items():
        for name, values in own.items():
            if name and values:
                yield verb, name, values


def _arguments(options: Mapping[str, Choices]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Verb and values of each argument without option that has choices."""
    for verb, own in options.items():
        if values := own.get(""):
            yield verb, values


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
