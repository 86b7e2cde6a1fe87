"""The page of tuned constants: every number that a module of the library names, as its source documents it.

Prints how many there are, and how many say on which data they were chosen: ``./dance python docs/constants_page.py``.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MISSING = "not recorded"
EVIDENCE = re.compile(
    r"\b([Cc]hosen|[Ll]earn(t|ed)|[Mm]easured|[Tt]uned|[Ff]itted) (on|from) \w"
    r"|\b([Rr]eal|[Ss]imulated) \w"
    r"|\b[a-z]+(19|20)\d\d\b"
    r"|\b[A-Z][a-z]+( et al\.?)?,? \(?(19|20)\d\d\b"
    r"|\bDerived\b|\b[Bb]y (definition|the [A-Z]\w+( and \w+)? (formats?|specification))\b"
)
"""What says where a value comes from: data, a key of the papers such as bonnet2016, an author and a year, a derivation,
or a definition."""
DIMENSIONLESS = re.compile(r"^[^.:;]*\b(relative|shares?|ratio|fraction|factor|multiple)\b", re.IGNORECASE)
"""How documentation speaks of a number without a unit."""
LARGEST_ROUNDING = 1e-6
"""Numbers up to this size are limits of rounding errors."""
LONGEST_VALUE = 60
"""[characters] A longer value is cut."""
INTRODUCTION = """# Constants

{count} numbers that the modules of the library name, read from the source when this page was made. {recorded} of them
say on which data, or from which publication, their value was chosen; those come first. *{missing}* means that the
source does not say. Some numbers are conventions, not choices: sizes of formats, indices, powers of two.

The defaults of options are in the reference of the options' classes.
"""


@dataclass(frozen=True)
class Constant:
    """A number, or a table of numbers, that a module names at its top."""

    path: str
    """From the repository's root."""
    line: int
    name: str
    value: str
    """The expression in the source."""
    documentation: str
    """The string after it, or the comment beside or above it; empty where there is none."""

    @property
    def unit(self) -> str:
        """What the documentation gives in square brackets; 1 where it speaks of a ratio."""
        if found := re.search(r"\[([^\]]+)\]", self.documentation):
            return found[1]
        return "1" if DIMENSIONLESS.match(self.documentation) else MISSING

    @property
    def is_rounding(self) -> bool:
        """Whether it is a limit of rounding errors, which twice the value would serve as well."""
        try:
            return 0.0 < float(self.value) <= LARGEST_ROUNDING
        except ValueError:
            return False

    @property
    def evidence(self) -> str:
        """The sentences that say on which data the value was chosen."""
        sentences = re.split(r"(?<=[^\W\d][.!?])\s+(?=[A-Z])(?<!al\. )", self.documentation)
        return " ".join(sentence for sentence in sentences if EVIDENCE.search(sentence))


def find_constants(folder: Path, root: Path = ROOT) -> list[Constant]:
    """The constants of every module below a folder, in the order of the sources."""
    return [constant for path in sorted(folder.rglob("*.py")) for constant in constants_of(path, root)]


def constants_of(path: Path, root: Path = ROOT) -> Iterator[Constant]:
    """The constants of one module: assignments at its top to a name in capitals, of a value with a number in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    beside, above = _comments(path)
    for node, after in zip(tree.body, [*tree.body[1:], None]):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _has_number(node.value):
            documentation = _string(after) or beside.get(node.end_lineno or 0) or above.get(node.lineno) or ""
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id.isupper():
                    value = " ".join(ast.unparse(node.value).split())
                    place = path.relative_to(root).as_posix()
                    yield Constant(place, node.lineno, target.id, value, " ".join(documentation.split()))


def _has_number(value: ast.expr) -> bool:
    """Whether a value contains a number that is no index."""
    indices = {id(part) for node in ast.walk(value) if isinstance(node, ast.Subscript) for part in ast.walk(node.slice)}
    numbers = (node for node in ast.walk(value) if isinstance(node, ast.Constant) and id(node) not in indices)
    return any(type(node.value) in (int, float) for node in numbers)


def _string(node: ast.stmt | None) -> str:
    """The string that a statement consists of."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def _comments(path: Path) -> tuple[dict[int, str], dict[int, str]]:
    """Comments beside code by their line, and blocks of comments by the line below them."""
    beside: dict[int, str] = {}
    above: dict[int, str] = {}
    with tokenize.open(path) as stream:
        for token in tokenize.generate_tokens(stream.readline):
            if token.type == tokenize.COMMENT:
                line, text = token.start[0], token.string.lstrip("# ")
                if token.line.lstrip().startswith("#"):
                    above[line + 1] = f"{above.get(line, '')} {text}".strip()
                else:
                    beside[line] = text
    return beside, above


def format_page(constants: list[Constant]) -> str:
    """The page in Markdown."""
    recorded = [constant for constant in constants if constant.evidence]
    by_package: dict[str, list[Constant]] = defaultdict(list)
    for constant in constants:
        parts = constant.path.split("/")
        by_package[parts[1] if len(parts) > 2 else "modules at the top"].append(constant)
    parts = [INTRODUCTION.format(count=f"{len(constants):,}", recorded=len(recorded), missing=MISSING)]
    parts += ["## Chosen on data or taken from a publication", _table(recorded)]
    for package in sorted(by_package):
        parts += [f"## {package}", _table(by_package[package])]
    return "\n\n".join(parts) + "\n"


def _table(constants: list[Constant]) -> str:
    rows = ["| constant | value | unit | meaning | chosen on |", "|---|---|---|---|---|"]
    for one in constants:
        value = one.value if len(one.value) <= LONGEST_VALUE else one.value[:LONGEST_VALUE] + " ..."
        meaning = _text(one.documentation) or MISSING
        place = one.path.partition("/")[2]
        cells = (f"`{one.name}`<br>{place}:{one.line}", f"`{value}`", one.unit, meaning, _text(one.evidence) or MISSING)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _text(documentation: str) -> str:
    """Documentation as Markdown."""
    return documentation.replace("``", "`").replace("*", "\\*").replace("<", "&lt;")


if __name__ == "__main__":
    named = find_constants(ROOT / "solver")
    with_unit = sum(constant.unit != MISSING for constant in named)
    with_data = sum(bool(constant.evidence) for constant in named)
    documented = sum(bool(constant.documentation) for constant in named)
    print(f"{len(named)} constants: {documented} documented, {with_unit} with a unit, {with_data} with their data")
