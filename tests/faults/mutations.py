"""How valid files are damaged: one home for the tests and for ``python -m benchmarks faults``.

A mutation takes a seeded generator and the content of a valid file and gives another content; the same seed gives the
same content everywhere. Damage is mostly to what a format means (a cell, a key, an attribute, an array), sometimes to
the bytes of any file.
"""

from __future__ import annotations

import io
import json
import math
import random
import struct
import zipfile
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

Mutation = Callable[[random.Random, bytes], bytes]
NUMBERS = ("nan", "inf", "-inf", "1e999", "-1e308", "1e-320", "0", "-0", "-1", "1_000", "1,5", "0x1F", "1e", ".", "--1",
           "9" * 400, "2147483648", "18446744073709551616", "\u0661\u0662", "\u00a05", "1.5.2", "1e5", "", " ", "None",
           "true", "1 2", "\uff11", "5%")  # fmt: skip
"""Cells that stand where a number should."""
WORDS = ("", " ", "\0", "\n", "\u202e", "\ud7ff", "é" * 40, "x" * 5000, "../../etc", "{0}", "%s", "<b>", "&amp;", "'",
         '"', "\\u0000", "time", "Time", "mm", "NaN", "\U0001f57a", "-", "#")  # fmt: skip
"""Values in place of a name."""
SEPARATORS = ("\t", ",", ";", " ", "\t\t", "|", "\x0b", "\x1c", "\u2028")
ENCODINGS = ("utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-32", "cp037")
LINE_ENDS = ("\r", "\r\n", "\n\n", "\n\r", "\x85", "\x0c")
BOMB = ('<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi"))
        + "]>")  # fmt: skip
"""A billion laughs."""
OUTSIDE = (
    '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/">',
)
DEPTHS = (70, 1500, 20_000)
KINDS = ("<f8", ">f8", "<f4", "<f2", "<i4", "<u1", "|b1", "<c16", "<U3", "|S3", "<M8[ns]", "|V8", "|O", "<U0", "|V0")
"""Kinds of arrays, most of them wrong wherever they stand."""
BOMB_SIZES = (8_000_000, 60_000_000, 400_000_000, 1_200_000_000)
"""[bytes] that an archive of zeros unpacks to."""
BOMBS = 0.002
"""Share of damaged archives that are one."""


def of_bytes(rng: random.Random, content: bytes) -> bytes:
    """Flipped bits, overwritten words, cut, doubled, swapped and shifted blocks, or a size field changed."""
    data = bytearray(content)
    size = len(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        place = rng.randrange(max(len(data), 1))
        what = rng.randrange(8)
        if not data or what == 0:
            data = data[: rng.randrange(size + 1)]
        elif what in (1, 2):
            data[place] ^= 1 << rng.randrange(8)
        elif what == 3:
            data[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif what == 4:
            number = rng.choice((0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, rng.getrandbits(32)))
            data[place : place + 4] = struct.pack(rng.choice("<>") + "I", number)[: max(len(data) - place, 0)]
        elif what == 5:
            other, length = rng.randrange(len(data)), rng.choice((1, 4, 16, 512))
            one, two = data[place : place + length], data[other : other + length]
            data[place : place + length], data[other : other + length] = two, one
        elif what == 6:
            data[place:place] = data[place : place + rng.choice((1, 2, 64, 512))] or b"\0"
        else:
            del data[place : place + rng.choice((1, 2, 4, 512))]
    return bytes(data)


def of_table(rng: random.Random, content: bytes) -> bytes:
    """Lines and cells of a table deleted, doubled, swapped and replaced, and its text written otherwise."""
    text = content.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = _table_step(rng, text)
    if rng.random() < 0.04:
        return text.encode(rng.choice(ENCODINGS), "replace")
    return text.encode("utf-8", "surrogatepass")


def _table_step(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    # headers are short and most is decided there
    line = rng.randrange(min(len(lines), 10)) if rng.random() < 0.6 else rng.randrange(len(lines))
    separator = next((s for s in ("\t", ",", "=") if s in lines[line]), " ")
    cells = lines[line].split(separator)
    cell = rng.randrange(len(cells))
    what = rng.randrange(17)
    if what == 0:
        del lines[line]
    elif what == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[line])
    elif what == 2:
        other = rng.randrange(len(lines))
        lines[line], lines[other] = lines[other], lines[line]
    elif what in (3, 4, 5):
        cells[cell] = rng.choice(NUMBERS)
    elif what == 6:
        cells[cell] = rng.choice(WORDS)
    elif what == 7:
        del cells[cell]
    elif what == 8:
        cells.insert(cell, rng.choice((cells[cell], *NUMBERS)))
    elif what == 9:
        other = rng.randrange(len(cells))
        cells[cell], cells[other] = cells[other], cells[cell]
    elif what == 10:
        cells[cell] = _corrupt(rng, cells[cell], (*"\"'\0\r;,\t[]()#=-.eE", "\u00a0", "\u0661"))
    elif what == 11:
        return text[: rng.randrange(len(text) + 1)]
    elif what == 12:
        return text.replace("\n", rng.choice(LINE_ENDS)) if rng.random() < 0.5 else text.replace(".", ",")
    elif what == 13:
        return text.replace(separator, rng.choice(SEPARATORS))
    elif what == 14:
        lines.insert(line, rng.choice(("", " ", "#", '"', "\0", "endheader", "x" * 200_000, separator * 3000)))
    elif what == 15:
        factor = rng.choice((1e3, 1e-3, 100.0, -1.0, 1e300))
        cells = [_scaled(word, factor) for word in cells]
    else:
        place = rng.randrange(len(text) + 1)
        return text[:place] + rng.choice(WORDS) + text[place:]
    if what in range(3, 11) or what == 15:
        lines[line] = separator.join(cells)
    return "\n".join(lines)


def _scaled(word: str, factor: float) -> str:
    try:
        return repr(float(word) * factor)
    except ValueError:
        return word


def _corrupt(rng: random.Random, word: str, characters: tuple[str, ...]) -> str:
    place = rng.randrange(len(word) + 1)
    return word[:place] + rng.choice(characters) + word[place + rng.randrange(2) :]


def of_json(rng: random.Random, content: bytes) -> bytes:
    """Entries of another type, missing, extra, renamed and swapped, deep nesting, huge numbers, and what is no JSON."""
    return corrupt_json(rng, content.decode()).encode("utf-8", "surrogatepass")


def corrupt_json(rng: random.Random, text: str) -> str:
    """As `of_json`, for text within another container."""
    if rng.random() < 0.1:
        place = rng.randrange(len(text) + 1)
        piece = rng.choice(("", "[", "}", ",", "NaN", "Infinity", "1e999", "9" * 5000, "\0", '"', "// no", "\ufeff"))
        return text[:place] + piece + text[place + rng.randrange(3) :]
    tree = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        tree = _corrupt_tree(rng, tree)
    corrupted = json.dumps(tree, ensure_ascii=False)
    if rng.random() < 0.05:
        depth = rng.choice(DEPTHS)
        corrupted = (
            corrupted.replace("null", "[" * depth + "]" * depth, 1)
            if "null" in corrupted
            else "[" * depth + "]" * depth
        )
    if rng.random() < 0.05:
        pieces = corrupted.split(": ")
        place = rng.randrange(len(pieces))
        pieces[place] = rng.choice(('1, "name"', '{"name"', "1e999", "-" + "9" * 4000)) + pieces[place]
        corrupted = ": ".join(pieces)
    return corrupted


def _corrupt_tree(rng: random.Random, tree: Any) -> Any:
    """A tree with one entry changed; walks down a random path, so that what is near the root changes often."""
    if not isinstance(tree, dict | list) or not tree or rng.random() < 0.08:
        return _odd(rng, tree)
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = rng.choice(keys)
    what = rng.randrange(16)
    if what == 0:
        del tree[key]
    elif what == 1 and isinstance(tree, dict):
        tree[rng.choice(("", "kind", "$array", "é", "__class__", "x" * 300, "type", str(key).upper()))] = tree.pop(key)
    elif what == 1 and isinstance(tree, list):
        tree.insert(key, tree[key])
    elif what == 2:
        other = rng.choice(keys)
        tree[key], tree[other] = tree[other], tree[key]
    elif what == 3 and isinstance(tree, list):
        tree[:] = tree[: rng.randrange(len(tree) + 1)]
    else:
        tree[key] = _corrupt_tree(rng, tree[key])
    return tree


def _odd(rng: random.Random, tree: Any) -> Any:
    if isinstance(tree, float | int) and rng.random() < 0.6:
        return rng.choice(
            (0, -1, -0.0, 1e308, -1e308, 1e-320, 10**400, 2**63, -(2**31), 0.5, tree * 1000, -tree, "nan")
        )
    if isinstance(tree, str) and rng.random() < 0.6:
        return rng.choice((*WORDS, tree + " ", tree.upper(), tree[:-1], tree * 2))
    if isinstance(tree, list) and rng.random() < 0.3:
        return tree * rng.choice((0, 2, 3))
    choices: tuple[Any, ...] = (None, True, 0, 1, -1, 2.5, 10**400, "", "nan", "left", [], {}, [[]], [None], [1, "a"],
               {"": None}, {"$array": "x"}, {"$number": 3}, {"$tuple": 3}, [tree, [tree]],
               {"type": "Rig", "value": tree},
               {"dtype": "<f8", "shape": [1 << 40], "values": []}, {"dtype": "O", "shape": [], "values": 1},
               {"dtype": "<U99999", "shape": [-1], "values": ["a"]}, [tree] * 3)  # fmt: skip
    return rng.choice(choices)


def of_xml(rng: random.Random, content: bytes) -> bytes:
    """Attributes, nesting, entities, names twice and cycles of a URDF; tags broken."""
    text = content.decode()
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = _xml_step(rng, text)
    if rng.random() < 0.03:
        return text.encode(rng.choice(ENCODINGS), "replace")
    return text.encode("utf-8", "surrogatepass")


def _xml_step(rng: random.Random, text: str) -> str:
    pieces = text.split('"')
    what = rng.randrange(16)
    if what in (0, 1, 2, 3, 4) and len(pieces) > 2:
        odd = 2 * rng.randrange(len(pieces) // 2) + 1
        other = 2 * rng.randrange(len(pieces) // 2) + 1
        if what < 2:
            pieces[odd] = rng.choice((*NUMBERS, "1 2 3", "0 0 0", "1e200 0 0", "1 0"))
        elif what == 2:
            pieces[odd] = rng.choice(WORDS)
        elif what == 3:  # a parent becomes a child, a name occurs twice, a joint mimics itself
            pieces[odd] = pieces[other]
        else:
            words = pieces[odd].split() or [""]
            words[rng.randrange(len(words))] = rng.choice(NUMBERS)
            pieces[odd] = " ".join(words)
        return '"'.join(pieces)
    starts = [place for place, letter in enumerate(text) if letter == "<"]
    start = rng.choice(starts) if starts else 0
    stop = text.find(">", start) + 1 or len(text)
    tag = text[start:stop]
    if what == 5:
        return text[:start] + text[stop:]
    if what == 6:
        return text[:stop] + tag + text[stop:]
    if what == 7:
        return text[: rng.randrange(len(text) + 1)]
    if what == 8:
        inside = "".join(f'<!ENTITY e{i} "x">' for i in range(3))
        head = rng.choice((BOMB, *OUTSIDE, f"<!DOCTYPE robot [{inside}]>", "<?xml version='9'?>", "<!DOCTYPE robot>"))
        return head + text.replace('name="', 'name="&i;', 1) if rng.random() < 0.5 else head + text
    if what == 9:
        depth = rng.choice(DEPTHS)
        return text[:start] + "<link>" * depth + "</link>" * depth + text[start:]
    if what == 10:
        name = tag.strip("</>").split(" ")[0]
        return text.replace(name, rng.choice(("link", "joint", "x", "xacro:x", "robot", "")), rng.choice((1, -1)))
    if what == 11 and " " in tag:
        words = tag.split(" ")
        word = rng.randrange(1, len(words))
        words[word:word] = rng.choice(([], [words[word]], ['x="1"'], ["x"]))
        del words[word - rng.randrange(2)]
        return text[:start] + " ".join(words) + text[stop:]
    if what == 12:
        block = text.find("</", stop)
        return text[:start] + text[start:block] * rng.choice((0, 2, 30)) + text[block:]
    if what == 13:
        return text.replace(tag, "", 1) + tag
    place = rng.randrange(len(text) + 1)
    return (
        text[:place] + rng.choice((*WORDS, "&", "&#0;", "&#x110000;", "<", "<![CDATA[", "<!--", "-->")) + text[place:]
    )


def of_archive(rng: random.Random, content: bytes) -> bytes:
    """A NumPy archive with an array missing, of other shape, kind or content, with odd headers, or a bomb."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if rng.random() < BOMBS:
        return bomb(rng.choice(BOMB_SIZES), rng.choice(sorted(entries)))
    method = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if entries:
            name = rng.choice(sorted(entries))
            _archive_step(rng, entries, name)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    data = stream.getvalue()
    return of_bytes(rng, data) if rng.random() < 0.1 else data


def _archive_step(rng: random.Random, entries: dict[str, bytes], name: str) -> None:
    if not name.endswith(".npy"):
        try:
            corrupted = corrupt_json(rng, entries[name].decode()).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):  # an earlier step made it no JSON
            corrupted = of_bytes(rng, entries[name])
        entries[name] = corrupted
        return
    what = rng.randrange(12)
    if what == 0:
        del entries[name]
    elif what == 1:
        entries[rng.choice(("mass.npy", "root.npy", "measured.npy", "x.npy", "tree.json", "../x.npy", "é.npy"))] = (
            entries.pop(name)
        )
    elif what == 2:
        other = rng.choice(sorted(entries))
        entries[name], entries[other] = entries[other], entries[name]
    elif what == 3:
        entries[name] = of_bytes(rng, entries[name])
    elif what == 4:
        entries[name] = _with_header(rng, entries[name])
    else:
        array = _loaded(entries[name])
        entries[name] = _saved(_odd_array(rng, array)) if array is not None else b""


def _odd_array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    what = rng.randrange(9)
    if what == 0:
        return array[: rng.randrange(len(array) + 1)] if array.ndim else np.zeros(0)
    if what == 1:
        return array.reshape(-1) if rng.random() < 0.5 else array[None]
    if what == 2:
        return np.array(array.T)
    if what == 3:
        return np.concatenate([array, array]) if array.ndim else np.array([array, array])
    if what == 4:
        return np.array(rng.choice((0, -1, np.nan, 1e300, "x", True, b"y", 1j, 10**18)))
    if what == 5 and array.size and array.dtype.kind in "fiu":
        changed = np.array(array, float)
        changed.reshape(-1)[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1e9))
        return changed
    if what == 6:
        changed = np.array(array)
        return changed.reshape(-1)[np.array([rng.randrange(array.size) for _ in range(array.size)], int)].reshape(
            array.shape
        )
    if what == 7:
        return np.zeros((0, *array.shape[1:]) if array.ndim else (0, 3), array.dtype)
    kind = np.dtype(rng.choice(KINDS))
    if not kind.itemsize or kind.kind in "VO" or array.dtype.kind not in "fiub":
        return np.zeros(array.shape, kind)  # NumPy 1.26 ends the process when it casts some arrays to these
    try:
        return array.astype(kind)
    except (TypeError, ValueError):
        return np.zeros(array.shape, kind)


def _with_header(rng: random.Random, data: bytes) -> bytes:
    """An array's bytes under another header."""
    shapes = ("()", "(1,)", "(0,)", "(-1,)", "(1099511627776,)", "(1099511627776, 0)", "(3, 1099511627776, 0)",
              "(2.5,)", "None", "(" + "1," * 40 + ")", "(9999999999999999,)", "('a',)", "[3]", "(True,)")  # fmt: skip
    header = f"{{'descr': '{rng.choice(KINDS)}', 'fortran_order': {rng.choice(('False', 'True', '3'))}, "
    header += f"'shape': {rng.choice(shapes)}, }}"
    if rng.random() < 0.2:
        header = rng.choice(("", "{", "{}", "[1]", "{'descr': [('a', '<f8'), ('b', 'O')], 'fortran_order': False, "
                             "'shape': (1,)}", "(" * 300, "__import__('os')", "x" * 70_000, "'" * 3,
                             "1\n  2\n 3"))  # fmt: skip
    text = header.encode().ljust(rng.choice((0, 118)))[:65_000] + b"\n"
    version = rng.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x09"))
    length = struct.pack("<H" if version[0] == 1 else "<I", rng.choice((len(text), len(text), 0, 60_000)))
    return b"\x93NUMPY" + version + length + text + data[128:]


def _loaded(data: bytes) -> np.ndarray | None:
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:  # an array that an earlier step damaged
        return None


def _saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@lru_cache(maxsize=8)
def bomb(size: int, name: str = "positions.npy") -> bytes:
    """An archive of one array of zeros that takes a thousandth of what it unpacks to [bytes]."""
    stream, piece = io.BytesIO(), bytes(1 << 20)
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size // 24}, 1, 3), }}".ljust(117) + "\n"
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w", force_zip64=True) as entry,
    ):
        entry.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for _ in range(size // len(piece)):
            entry.write(piece)
    return stream.getvalue()


MUTATIONS: dict[str, Mutation] = {"table": of_table, "bytes": of_bytes, "json": of_json, "xml": of_xml,
                                  "archive": of_archive}  # fmt: skip
"""By the container of a format."""
BLIND = 0.15
"""Share of inputs whose bytes are damaged whatever the container."""


def mutated(container: str, content: bytes, seed: str) -> bytes:
    """The content that a seed makes of a valid one."""
    rng = random.Random(seed)
    return (of_bytes if rng.random() < BLIND else MUTATIONS[container])(rng, content)


def with_flipped_bit(content: bytes, place: int) -> bytes:
    """The same bytes but for one bit."""
    data = bytearray(content)
    data[place // 8] ^= 1 << place % 8
    return bytes(data)


def coprime(count: int) -> int:
    """A step through ``count`` places that visits each once: near the golden section, without a common divisor."""
    step = max(int(0.618 * count), 1)
    while math.gcd(step, count) > 1:
        step += 1
    return step
