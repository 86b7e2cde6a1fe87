"""Drawing functions that Blender calls for each view of an editor: put there together, taken away together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import bpy

Kind: TypeAlias = Literal["POST_VIEW", "POST_PIXEL"]


@dataclass(slots=True)
class DrawHandlers:
    """What is drawn over one editor.

    Attributes:
        editor: type of the editor, such as ``bpy.types.SpaceView3D``.
        functions: what draws, each in the space of the scene (POST_VIEW) or of the region's pixels (POST_PIXEL).
    """

    editor: Any
    functions: tuple[tuple[Callable[[], None], Kind], ...]
    _handles: list = field(default_factory=list)

    @property
    def enabled(self) -> bool:
        """Whether Blender calls them."""
        return bool(self._handles)

    def enable(self, on: bool) -> None:
        """Draw from now on, or no more; nothing is drawn without a window."""
        while self._handles:
            self.editor.draw_handler_remove(self._handles.pop(), "WINDOW")
        if on and not bpy.app.background:
            self._handles += [self.editor.draw_handler_add(draw, (), "WINDOW", kind) for draw, kind in self.functions]
