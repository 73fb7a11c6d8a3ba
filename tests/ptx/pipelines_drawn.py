"""Pipelines for tests at random: every pass by itself, with options that change what it does, and several in a row."""

from __future__ import annotations

from random import Random

SINGLE = (
    "memory-space",
    "memory-space{kernel_pointers_are_global=true}",
    "vectorize-accesses{assume_pointer_align=16}",
    "vectorize-accesses{assume_pointer_align=256 assume_noalias=true width=2}",
    "pre",
    "pre{assume_noalias=true}",
    "pre{parameters=true},propagate-copies,pre{parameters=true}",
    "propagate-copies",
    "drop-conversions",
    "memory-space,drop-conversions,propagate-copies",
    "unroll",
    "unroll{factor=2 full=0},vectorize-accesses{assume_pointer_align=16}",
    "raise-alignment,vectorize-accesses",
    "dce",
    "lower-version",
    "synthesize-shuffles{shared=true}",
    "synthesize-shuffles{always=true shared=true}",
    "synthesize-shuffles{always=true shared=true shape=rings}",
)

LAST = (
    "demote-registers{target=24 calls=4 frames=least}",
    "demote-registers{target=32 calls=3 volatile=true strategy=conflicts}",
    "demote-registers{target=32 calls=3 volatile=false strategy=liverange}",
    "register-cap{registers=64}",
)
"""For the end of a pipeline: of hundreds of accesses to slots shuffles are sought for minutes, and pre moves them."""


def pipelines(draw: Random, single: int = 5, several: int = 2) -> tuple[str, ...]:
    """Draw ``single`` passes by themselves, and ``several`` pipelines of some of them in any order."""
    in_a_row = [
        ",".join((*draw.sample(SINGLE, draw.randrange(2, 6)), *draw.sample(LAST, draw.randrange(2))))
        for _ in range(several)
    ]
    return (*draw.sample((*SINGLE, *LAST), single), *in_a_row)
