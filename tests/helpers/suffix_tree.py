"""A suffix tree in textures, as the sample `sharing/mum` has it: built from sorted suffixes, read to check results.

A node is the string on the way to it from the root. Inner nodes are what two suffixes that are neighbours in order have
in common; leaves are the suffixes, each of which ends with a letter of its own, `$`. Numbers are given level by level
from 1, the root, in the order A, C, G, T, `$`; 0 is none.
"""

from itertools import pairwise
from typing import AnyStr

import numpy as np

LETTERS = "ACGT$"
ROWS = 32  # of a band of nodes
LONGEST = 64  # letters by which any two suffixes of a random text differ


def common_prefix(one: AnyStr, other: AnyStr) -> AnyStr:
    """What two texts begin with."""
    n = next(
        (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[:n]


def texture_address(number: int, columns: int) -> int:
    """x + (y << 16) of a node in bands of 32 rows."""
    band, within = divmod(number, ROWS * columns)
    return within // ROWS + (band * ROWS + within % ROWS << 16)


def textures(letters: str, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes (first and last letter of the edge, child by `$`, suffix link) and their children by A, C, G and T.

    Both have the shape [rows, columns, 4]. The first letter of the text has the place 1. A leaf has the place of its
    suffix as its child by `$`, which nothing reads. Raises ValueError for a text in which 63 letters occur twice.
    """
    text = letters + "$"
    suffixes = sorted(range(len(text)), key=lambda s: text[s : s + LONGEST])
    first: dict[str, int] = {"": 0}
    for one, other in pairwise(suffixes):
        common = common_prefix(text[one : one + LONGEST], text[other : other + LONGEST])
        if len(common) >= LONGEST - 1:
            raise ValueError(f"{common} occurs twice")
        first[common] = min(one, other, first.get(common, one))
    inner = sorted(first, key=len, reverse=True)
    above: dict[str, str] = {}
    below: dict[str, dict[str, str | int]] = {string: {} for string in inner}
    depth_above: dict[int, int] = {}

    def parent(string: str) -> str:
        return next(string[:n] for n in range(len(string) - 1, -1, -1) if string[:n] in first)

    for string in inner[:-1]:
        above[string] = found = parent(string)
        first[found] = min(first[found], first[string])
        below[found][string[len(found)]] = string
    for s in suffixes:
        found = parent(text[s : s + LONGEST])
        depth_above[s] = len(found)
        below[found][text[s + len(found)]] = s

    order: list[str | int] = [""]
    for node in order:
        if isinstance(node, str):
            order += [below[node][letter] for letter in LETTERS if letter in below[node]]
    address = {node: texture_address(number, columns) for number, node in enumerate(order, 1)}
    bands = len(order) // (ROWS * columns) + 1
    shape = (bands * ROWS, columns, 4)
    nodes, children = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
    for node in order:
        at = address[node] >> 16, address[node] & 0xFFFF
        if isinstance(node, int):
            nodes[at] = 1 + node + depth_above[node], len(text), 1 + node, 0
            continue
        children[at] = [address.get(below[node].get(letter, -1), 0) for letter in LETTERS[:4]]
        ended = address.get(below[node].get("$", -1), 0)
        if node:
            begin = 1 + first[node] + len(above[node])
            nodes[at] = begin, first[node] + len(node), ended, address[node[1:]]
        else:
            nodes[at] = 0, 0, ended, address[node]
    return nodes, children


def locus(nodes: np.ndarray, children: np.ndarray, string: bytes, columns: int) -> tuple[int, int]:
    """The number of the node on the edge to which a string ends that occurs in the text, and its letters on that edge.

    Numbers are those of bands of 4096 columns, which the kernel reports for textures of any width.
    """
    y, x, left = 1, 0, len(string)
    while True:
        child = int(children[y, x, LETTERS.index(chr(string[-left]))])
        y, x = child >> 16, child & 0xFFFF
        first, last = (int(value) for value in nodes[y, x, :2])
        if left <= last - first + 1:
            return (y // ROWS << 17) + x * ROWS + y % ROWS, left
        left -= last - first + 1
