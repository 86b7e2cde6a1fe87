"""The frame of a report's page: numbered captions, cards, and the document around the sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files

from ..version import VERSION

LARGEST_ROW = 5
"""Cards beside each other."""


@dataclass(slots=True)
class Numbering:
    """Consecutive numbers of figures and tables.

    Attributes:
        counts: how many of each kind, ``"Figure"`` or ``"Table"``, have a caption.
    """

    counts: Counter[str] = field(default_factory=Counter)

    def add_caption(self, kind: str, body: str, caption: str) -> str:
        """A numbered figure or table with its caption."""
        self.counts[kind] += 1
        text = f"<figcaption><b>{kind} {self.counts[kind]}.</b> {caption}</figcaption>"
        order = (text, body) if kind == "Table" else (body, text)
        return f'<figure class="{kind.lower()}">{order[0]}{order[1]}</figure>'


BASE_LINK = "moments about the base link's origin"
"""Convention of the wrenches on a page."""


def build_document(title: str, head: str, sections: Sequence[tuple[str, str]], convention: str = BASE_LINK) -> str:
    """A self-contained page from its header and its sections (title, markup), with the style sheet."""
    links = "".join(f'<a href="#s{index}">{escape(name)}</a>' for index, (name, _) in enumerate(sections))
    body = "".join(
        f'<section id="s{index}"><h2>{escape(name)}</h2>{text}</section>' for index, (name, text) in enumerate(sections)
    )
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main>"
        f"{head}<nav>{links}</nav>{body}"
        f"<footer>exciting_dance {VERSION}. SI units; z up; {convention}.</footer>"
        "</main></body></html>\n"
    )


def render_cards(cards: list[str]) -> str:
    """Cards in rows of nearly equal length, so that none stands alone."""
    rows = -(-len(cards) // LARGEST_ROW)
    columns = -(-len(cards) // max(rows, 1))
    return f'<div class="cards in-{columns}">{"".join(cards)}</div>'


def render_card(title: str, value: str, note: str) -> str:
    """A card: one of the figures that a reader should see first."""
    return f'<div class="card"><h3>{title}</h3><p class="value">{value}</p><p class="note">{note}</p></div>'
