"""The description on PyPI: the README with absolute links.

PyPI has none of the repository's files. Relative links and images lead to the tag of this version in the repository
that ``[project.urls]`` names as ``Source``; without one, images are left out and links are plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

SOURCE = "Source"
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?!https?://|#|mailto:)([^()\s]+)\)")


class LongDescription(MetadataHookInterface):
    """Give hatchling the description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to the metadata of the distribution."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get(SOURCE)
        text = with_absolute_links(text, source, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(text: str, source: str | None, version: str) -> str:
    """A Markdown text with links that do not depend on where it is displayed.

    Args:
        text: as in the repository.
        source: address of the repository; None: there is none.
        version: tag to which the links point.
    """

    def absolute(link: re.Match[str]) -> str:
        image, words, path = link.groups()
        if source is None:
            return "" if image else words
        kind = "raw" if image else "blob"
        return f"{image}[{words}]({source.rstrip('/')}/{kind}/v{version}/{path})"

    return re.sub(r"\n{3,}", "\n\n", _LINK.sub(absolute, text))
