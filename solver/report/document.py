"""The frame of a report's page: figures and tables with numbered captions, cards, and the document around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from ..version import __version__
from .tables import Table, render_table

LARGEST_ROW = 5
"""Cards beside each other."""
BASE_LINK = "moments about the base link's origin"
"""Convention of the wrenches on a page."""
Card = tuple[str, str, str]
"""One of the figures that a reader should see first: title, value and note, as HTML."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its caption, both as HTML; an empty drawing is left out."""

    caption: str
    drawing: str


Block = Table | Figure | str
"""Part of a section: a table, a figure, or other HTML."""


def build_document(
    title: str, head: str, sections: Iterable[tuple[str, Iterable[Block]]], convention: str = BASE_LINK
) -> str:
    """A self-contained page from its header and its sections (title, blocks), with the style sheet.

    Tables without rows, and sections with nothing to show, are left out.
    """
    counts: Counter[str] = Counter()
    rendered = [(name, "".join(_render_block(block, counts) for block in blocks)) for name, blocks in sections]
    shown = [(index, escape(name), text) for index, (name, text) in enumerate(rendered) if text]
    links = "".join(f'<a href="#s{index}">{name}</a>' for index, name, _ in shown)
    body = "".join(f'<section id="s{index}"><h2>{name}</h2>{text}</section>' for index, name, text in shown)
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main>"
        f"{head}<nav>{links}</nav>{body}"
        f"<footer>exciting_dance {__version__}. SI units; z up; {convention}.</footer>"
        "</main></body></html>\n"
    )


def _render_block(block: Block, counts: Counter[str]) -> str:
    """A block; figures and tables are numbered, a table's caption is above it."""
    if isinstance(block, str):
        return block
    kind = type(block).__name__
    body = block.drawing if isinstance(block, Figure) else render_table(block) if block.rows else ""
    if not body:
        return ""
    counts[kind] += 1
    caption = f"<figcaption><b>{kind} {counts[kind]}.</b> {block.caption}</figcaption>"
    first, second = (caption, body) if kind == "Table" else (body, caption)
    return f'<figure class="{kind.lower()}">{first}{second}</figure>'


def render_cards(cards: Sequence[Card]) -> str:
    """Cards in rows of nearly equal length, so that none stands alone."""
    rows = -(-len(cards) // LARGEST_ROW)
    columns = -(-len(cards) // max(rows, 1))
    listed = "".join(
        f'<div class="card"><h3>{title}</h3><p class="value">{value}</p><p class="note">{note}</p></div>'
        for title, value, note in cards
    )
    return f'<div class="cards in-{columns}">{listed}</div>'


def render_list(texts: Iterable[str], kind: str = "") -> str:
    """A list of sentences; empty without any. ``kind`` is a class of the style sheet."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    opening = f'<ul class="{kind}">' if kind else "<ul>"
    return f"{opening}{items}</ul>" if items else ""


def render_definitions(rows: Iterable[tuple[str, str]]) -> str:
    """A list of rows (title, text); empty without any."""
    items = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in rows)
    return f"<dl>{items}</dl>" if items else ""
