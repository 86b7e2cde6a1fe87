"""Results in, pages, figures and tables out."""

from __future__ import annotations

from ..scene.study_folder import REPORT_FILE
from .content import CONTENT, Content
from .from_study import build_content
from .moments_page import write_moments
from .page import render

__all__ = ["CONTENT", "REPORT_FILE", "Content", "build_content", "render", "write_moments"]
