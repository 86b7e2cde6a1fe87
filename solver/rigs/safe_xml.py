"""Safe reading of XML: no entity is expanded or fetched; malformed or too deeply nested files are errors."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from defusedxml.common import DefusedXmlException

from ..base.errors import InputError
from ..base.files import check_file, read_bytes

MAX_BYTES = 64 << 20
"""[bytes] Largest file. Chosen on a robot of a thousand links, which has about one million."""
DECLARED_ENCODING = re.compile(rb"""(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*["']([\w.-]+)["'][^>]*\?>""")
PARSED_ENCODINGS = (b"utf-8", b"utf-16", b"iso-8859-1", b"us-ascii")
"""Encodings that the parser itself reads."""
MAX_DEPTH = 100
"""Largest nesting of elements. Chosen on a URDF, which has five levels."""


def read_xml(path: str | Path, max_bytes: int = MAX_BYTES) -> Element:
    """Read the root element of an XML file of at most so many bytes.

    Raises:
        InputError: no file, too large, not well-formed, hostile (entities, external references), nested too deeply.
    """
    check_file(path, max_bytes)
    return parse_xml(path, read_bytes(path))


def _to_known_encoding(data: bytes) -> bytes | str:
    """Text of a document whose declaration names an encoding that the parser does not know, such as GB2312."""
    declared = DECLARED_ENCODING.match(data)
    if declared is None or declared[2].lower() in PARSED_ENCODINGS:
        return data
    return declared[1].decode() + "?>" + data[declared.end() :].decode(declared[2].decode())


def parse_xml(path: str | Path, data: bytes) -> Element:
    """Root element of the bytes of an XML file.

    Raises:
        InputError: see `read_xml`.
    """
    try:
        root: Element = defusedxml.ElementTree.fromstring(_to_known_encoding(data), forbid_dtd=False)
    except DefusedXmlException as error:
        problem = f"defines XML entities or external references ({type(error).__name__}), which are not allowed"
        raise InputError(path, problem, remedy="Remove the DTD from the file") from None
    except (ParseError, LookupError, ValueError) as error:
        place = f"line {error.position[0]}" if isinstance(error, ParseError) else None
        remedy = "Correct it there, or save it as UTF-8"
        raise InputError(path, f"is not well-formed XML ({error})", place=place, remedy=remedy) from None
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise InputError(path, f"nests elements more than {MAX_DEPTH} levels deep", remedy="Give another file")
        level = [inner for element in level for inner in element]
    return root
