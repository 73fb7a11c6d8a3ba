"""Versions that parts of one launch can run: a plan with candidates in, the plan with these as parts of launches out.

    register-cap{registers=32}   -->   register-cap{registers=32},grid-stride
    the original                 -->   a version of its own: grid-stride

This is *kernel splitting* (Hayes et al., Orion, 2016, section 3.4): parts of the blocks of one long launch try other
versions, so that the best one is found without further launches (`templates/runtime/cf_launch.h`).  All candidates have
blocks as large as those of the original, so that numbers of blocks mean the same points.  Such a launch computes what
one whole launch does:

- The blocks of a launch run in any order, and none waits for another one.  The grid is the outermost run of
  ``meta_for``, whose iterations do not conflict, as legality has proved or the program was trusted with; no kernel that
  is made here cooperates over the grid.  Parts in a stream, one behind the other, are one of these orders.
- Every block is in one part and runs once: nothing is tried on blocks that run again.  So kernels that write what they
  read are as right as others.
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.occupancy_tuning.subject import Subject
from comprehensive.plan.plan import FunctionPlan
from comprehensive.plan.versions import Version, key_of
from comprehensive.records import replace

NUMBERED = "grid-stride"
"""The pass behind which a launch says which blocks run."""


def in_parts(plan: FunctionPlan, subjects: Mapping[str, Subject], before: Mapping[str, str]) -> FunctionPlan:
    """Return the plan with versions of which parts can be launched, where its kernels can be made so.

    ``subjects`` and the passes of the originals, ``before``, are by symbol.  A version that spills more with the loop
    over blocks than without it stays as it is, and runs in no part; the original has nothing else to be compared by.
    """
    adaptation = plan.adaptation
    if adaptation is None:
        return plan
    known = {key_of(symbol): subject for symbol, subject in subjects.items()}
    passes = {key_of(symbol): pipeline for symbol, pipeline in before.items()}
    versions = list(plan.versions)
    tried = sorted({candidate.version for candidate in adaptation.candidates} - {0})
    for number in tried:
        pipelines = {kernel: _numbered(known[kernel], each) for kernel, each in versions[number].pipelines}
        versions[number] = Version.of_pairs(versions[number].name, pipelines)
    kernels = sorted({kernel for number in tried for kernel, _ in versions[number].pipelines})
    originals = {
        kernel: joined(passes[kernel], NUMBERED)
        for kernel in kernels
        if known[kernel].made(NUMBERED) is not None
    }
    if not originals:
        return plan
    versions.append(Version.of_pairs(NUMBERED, originals))
    return replace(plan, versions=tuple(versions), adaptation=replace(adaptation, parts=len(versions) - 1))


def of_one_size(subject: Subject) -> Subject:
    """Return the subject with blocks as large as those of the original alone."""
    return replace(subject, launches={subject.threads: subject.launches[subject.threads]})


def joined(*pipelines: str) -> str:
    """Return one pipeline of several, of which some may be empty."""
    return ",".join(filter(None, pipelines))


def _numbered(subject: Subject, pipeline: str) -> str:
    """Return the pipeline behind which blocks are numbers; as it is where they are, cannot be, or where that spills."""
    longer = joined(pipeline, NUMBERED)
    plain, made = subject.made(pipeline), subject.made(longer)
    if NUMBERED in pipeline or plain is None or made is None:
        return pipeline
    return pipeline if made.usage.spill_bytes > plain.usage.spill_bytes else longer
