"""The report: one HTML file with figures and tables that opens anywhere."""

from __future__ import annotations

from pathlib import Path

from ..scene.study_folder import CONTENT_FILE, REPORT_FILE
from ..storage.atomic import write_atomically
from .content import CONTENT, Content
from .from_study import build_content
from .moments_page import write_moments
from .page import render


def write_report(content: Content, folder: str | Path) -> Path:
    """Write ``report.html`` and, to render it again, ``report.npz`` into a folder; returns the page's path."""
    folder = Path(folder)
    CONTENT.write(folder / CONTENT_FILE, content)
    with write_atomically(folder / REPORT_FILE) as stream:
        stream.write(render(content))
    return folder / REPORT_FILE


__all__ = ["CONTENT", "Content", "build_content", "render", "write_moments", "write_report"]
