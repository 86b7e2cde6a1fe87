"""Groups of draw handlers of an editor, which are added and removed together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import bpy

Kind: TypeAlias = Literal["POST_VIEW", "POST_PIXEL"]


@dataclass(slots=True)
class DrawHandlers:
    """Draw handlers of one editor.

    Attributes:
        editor: type of the editor, such as ``bpy.types.SpaceView3D``.
        functions: drawing functions, in scene coordinates (POST_VIEW) or in pixels of the region (POST_PIXEL).
    """

    editor: Any
    functions: tuple[tuple[Callable[[], None], Kind], ...]
    _handles: list = field(default_factory=list)

    @property
    def enabled(self) -> bool:
        """Whether the handlers are added."""
        return bool(self._handles)

    def enable(self, on: bool) -> None:
        """Add or remove the handlers; without a window none are added."""
        while self._handles:
            self.editor.draw_handler_remove(self._handles.pop(), "WINDOW")
        if on and not bpy.app.background:
            self._handles += [self.editor.draw_handler_add(draw, (), "WINDOW", kind) for draw, kind in self.functions]
