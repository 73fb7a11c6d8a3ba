"""The order in which the parts of a function are executed: loops stay together, what follows a loop comes after it.

    weak_order([(1,), (2, 3), (1,), ()], 0)        # [0, 1, 2, 3]: 1 and 2 are a loop, 3 is behind it

Of threads that are at different places those at the first place go on: so all have left a loop before one goes further,
and all meet where the branches of a condition come together.  Bourdoncle, "Efficient chaotic iteration strategies with
widenings" (1993): a weak topological order, also of graphs that no structured program has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def weak_order(successors: Sequence[Iterable[int]], entry: int) -> list[int]:
    """All nodes that the entry reaches, each component of the graph in a row, its first node first."""
    edges = [tuple(targets) for targets in successors]
    order: list[int] = []
    # Components that are left to be put in order, the next one last.
    left = _components(edges, [entry], None)[::-1]
    while left:
        head, *others = left.pop()
        order.append(head)
        if others:
            # A loop: behind its head the rest, without the edges back to the head.
            inside = frozenset(others)
            starts = [node for node in edges[head] if node in inside]
            left += _components(edges, starts, inside)[::-1]
    return order


def _components(
    edges: Sequence[tuple[int, ...]], starts: Sequence[int], allowed: frozenset[int] | None
) -> list[tuple[int, ...]]:
    """Strongly connected components in topological order; of each the node first that was reached first."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[tuple[int, ...]] = []
    # The last successor is followed first, so that the first comes earlier in the order.
    for start in reversed(starts):
        if start in number:
            continue
        work = [(start, iter(reversed(edges[start])))]
        number[start] = low[start] = len(number)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if allowed is not None and target not in allowed:
                    continue
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(reversed(edges[target]))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    component: list[int] = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(tuple(reversed(component)))
    return found[::-1]
