"""Depth-first order of a graph's nodes, in which most changes of a forward analysis arrive before they are needed.

Reference: A. Aho et al., "Compilers", 2nd edition, section 9.6.2 (depth-first ordering).
"""

from collections.abc import Iterable, Sequence


def reverse_postorder(
    successors: Sequence[Sequence[int]], roots: Iterable[int], first_junction: int | None = None
) -> tuple[int, ...]:
    """Depth-first reverse post-order from the roots, first successors visited first.

    Junctions, the nodes from `first_junction` on, have no place: their successors count as those of the nodes before
    them. What one of these has visited is done for the others, so that each junction is walked once.
    """
    n = len(successors) if first_junction is None else first_junction
    order: list[int] = []
    seen = [False] * n
    left = {node: iter(successors[node]) for node in range(n, len(successors))}
    for root in roots:
        if seen[root]:
            continue
        seen[root] = True
        stack = [(root, iter(successors[root]))]
        while stack:
            node, rest = stack[-1]
            for successor in rest:
                if successor >= n:
                    stack.append((successor, left[successor]))
                    break
                if not seen[successor]:
                    seen[successor] = True
                    stack.append((successor, iter(successors[successor])))
                    break
            else:
                stack.pop()
                if node < n:
                    order.append(node)
    return tuple(reversed(order))
