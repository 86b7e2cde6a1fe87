"""Safe reading of XML: no entity is expanded or fetched; malformed or too deeply nested files are errors."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from defusedxml.common import DefusedXmlException

from ..errors import InputError
from ..files import check_file, read_bytes

MAX_BYTES = 64 << 20
"""[bytes] Largest file; a robot of a thousand links has about one million."""
MAX_DEPTH = 100
"""Largest nesting of elements; a URDF has five levels."""


def read_xml(path: str | Path, max_bytes: int = MAX_BYTES) -> Element:
    """Read the root element of an XML file of at most so many bytes.

    Raises:
        InputError: no file, too large, not well-formed, hostile (entities, external references), nested too deeply.
    """
    check_file(path, max_bytes)
    return parse_xml(path, read_bytes(path))


def parse_xml(path: str | Path, data: bytes) -> Element:
    """Root element of the bytes of an XML file.

    Raises:
        InputError: see `read_xml`.
    """
    try:
        root: Element = defusedxml.ElementTree.fromstring(data, forbid_dtd=False)
    except DefusedXmlException as error:
        problem = f"defines XML entities or external references ({type(error).__name__}), which are not allowed"
        raise InputError(path, problem, remedy="Remove the DTD from the file") from None
    except (ParseError, LookupError, ValueError) as error:
        place = f"line {error.position[0]}" if isinstance(error, ParseError) else None
        remedy = "Write it again, or correct it there"
        raise InputError(path, f"is not well-formed XML ({error})", place=place, remedy=remedy) from None
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise InputError(path, f"nests elements more than {MAX_DEPTH} levels deep", remedy="Give another file")
        level = [inner for element in level for inner in element]
    return root
