"""The decisions of a leaf in the order in which they fell, in the words of the file of values.

In: a tree over given values.  Out: for each leaf the words along its path, as the paper prints them under a case:

- a refuse edge says the word of the strategy that it takes: ``(3b)``;
- an accept edge says the words of the row that it accepts, each once: ``(4a) (3a)``;
- the leaf says what is there for strategies that no edge has taken: ``(2)``.
"""

from __future__ import annotations

from typing import assert_never

from comprehensive.given.fragment import Given
from comprehensive.given.values import GivenValues
from comprehensive.optimize.tree import Branch, DeadEnd, Leaf, Node, Open, Pruned, Tree


def decisions(tree: Tree[Given], values: GivenValues) -> tuple[tuple[str, ...], ...]:
    """The words of every leaf of the tree, in the order of its leaves."""
    counters = {counter.name: counter for counter in values.counters}
    names = [strategy.name for strategy in tree.strategies]
    listed = [name for name in values.words if name in names]
    found: dict[int, tuple[str, ...]] = {}
    waiting: list[tuple[Node[Given], frozenset[str], tuple[str, ...], frozenset[tuple[str, str]]]] = [
        (tree.root, frozenset(), (), frozenset())
    ]
    while waiting:
        node, taken, words, accepted = waiting.pop()
        match node:
            case Leaf():
                left = (values.words[name].otherwise for name in listed if name not in taken)
                found[node.index] = (*words, *(word for word in left if word))
            case Branch():
                said = [
                    word
                    for word in counters[node.counter].row(taken).says
                    if (node.counter, word) not in accepted
                ]
                now = accepted | {(node.counter, word) for word in said}
                waiting.append((node.accept, taken, (*words, *said), now))
                if node.strategy is not None:
                    word = values.words[node.strategy].taken if node.strategy in values.words else ""
                    refused = (*words, word) if word else words
                    waiting.append((node.refuse, taken | {node.strategy}, refused, accepted))
            case DeadEnd() | Pruned() | Open():
                pass
            case _:
                assert_never(node)
    return tuple(found[leaf.index] for leaf in tree.leaves)
