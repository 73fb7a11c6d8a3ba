"""Readers of the texts of options.  A text that stands for nothing raises click.UsageError."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from comprehensive.algebra.domains import Domain
    from comprehensive.values import Rational

_NUMBER = r"-?[0-9]{1,1000}(/0*[1-9][0-9]{0,999}|\.[0-9]{1,1000})?"


def domains_of(values: tuple[str, ...]) -> dict[str, Domain]:
    """Return the domain of each parameter that ``--points NAME=VALUES`` names."""
    from comprehensive.leaf_parameters import domain

    parsed: dict[str, Domain] = {}
    for value in values:
        name, _, text = value.partition("=")
        if not name.isidentifier() or name in parsed:
            raise click.UsageError(f"--points {value}: expected NAME=VALUES, each name once")
        try:
            parsed[name] = domain(text)
        except ValueError as error:
            raise click.UsageError(f"--points {value}: {error}") from None
    return parsed


def pipelines_of(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the pipelines that ``--passes PIPELINE`` names, each once. CommandLineError as of `passes_of`."""
    from comprehensive.ptx.passes.pipeline_text import passes_of

    pipelines = tuple(dict.fromkeys(value.strip() for value in values))
    if not all(map(passes_of, pipelines)):
        raise click.UsageError("--passes names no pass; without passes candidates are tried anyway")
    return pipelines


def symbols_of(region: str) -> tuple[str, ...]:
    """Return the one or two parameters that ``--region NAME[,NAME]`` names."""
    names = tuple(name.strip() for name in region.split(","))
    if not 1 <= len(names) <= 2 or not all(name.isidentifier() for name in names):
        raise click.UsageError(f"--region {region}: expected one name or two, as in --region B0,B1")
    if len(set(names)) != len(names):
        raise click.UsageError(f"--region {region}: the two parameters must differ")
    return names


def ranges_of(values: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Return the lower and the upper end that ``--range NAME=LOW:HIGH`` gives each parameter."""
    parsed: dict[str, tuple[int, int]] = {}
    for value in values:
        found = re.fullmatch(r"(\w+)=(-?\d+):(-?\d+)", value, re.ASCII)
        if found is None or int(found[2]) >= int(found[3]):
            raise click.UsageError(f"--range {value}: expected NAME=LOW:HIGH, as in --range B0=1:64")
        parsed[found[1]] = (int(found[2]), int(found[3]))
    return parsed


def definitions_of(values: tuple[str, ...]) -> dict[str, Rational]:
    """Return the values that ``-D NAME=VALUE`` gives; a name may be given once."""
    parsed: dict[str, Rational] = {}
    for value, (name, number) in zip(values, assignments_of(values), strict=True):
        if name in parsed:
            raise click.UsageError(f"-D {value}: {name} is given twice")
        parsed[name] = number
    return parsed


def assignments_of(values: Sequence[str], option: str = "-D") -> list[tuple[str, Rational]]:
    """Return the pairs that ``-D NAME=VALUE`` gives, in order; a name may be given more than once."""
    parsed: list[tuple[str, Rational]] = []
    for value in values:
        name, _, number = value.partition("=")
        if not name.isidentifier() or not re.fullmatch(_NUMBER, number):
            raise click.UsageError(
                f"{option} {value}: expected NAME=NUMBER, as in -D B0=16 or, for a share, -D P_x=1/2"
            )
        exact = Fraction(number)
        parsed.append((name, int(exact) if exact.denominator == 1 else exact))
    return parsed


def sizes_of(values: tuple[str, ...]) -> list[dict[str, Rational]]:
    """Return the combination of sizes that each ``--sizes n=1024,T=20`` gives."""
    rows: list[dict[str, Rational]] = []
    for value in values:
        pairs = assignments_of(value.split(","), "--sizes")
        if len(dict(pairs)) < len(pairs):
            raise click.UsageError(f"--sizes {value}: a name is given twice")
        rows.append(dict(pairs))
    return rows
