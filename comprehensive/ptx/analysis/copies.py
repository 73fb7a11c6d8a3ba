"""Copies that happen all at once, as copies one after the other.

In: pairs ``(to, from)``, all ``to`` different.  Out: pairs in an order in which no value is lost; a circle is opened
with one name more::

    in_sequence([("a", "b"), ("b", "a")], lambda name: "t")      # (("t", "a"), ("a", "b"), ("b", "t"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def in_sequence(pairs: Sequence[tuple[str, str]], spare: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """Return copies in an order that does what all at once do (Boissinot et al. 2009, algorithm 1).

    ``spare`` names a place that can hold what stands in the given one.
    """
    source = {to: from_ for to, from_ in pairs if to != from_}
    readers: dict[str, int] = {}
    for from_ in source.values():
        readers[from_] = readers.get(from_, 0) + 1
    found: list[tuple[str, str]] = []
    ready = [to for to in source if to not in readers]
    while source:
        if not ready:
            kept = next(iter(source))
            other = spare(kept)
            found.append((other, kept))
            for to, from_ in source.items():
                if from_ == kept:
                    source[to] = other
            readers[other] = readers.pop(kept)
            ready.append(kept)
        to = ready.pop()
        from_ = source.pop(to)
        found.append((to, from_))
        readers[from_] -= 1
        if not readers[from_]:
            del readers[from_]
            if from_ in source:
                ready.append(from_)
    return tuple(found)
