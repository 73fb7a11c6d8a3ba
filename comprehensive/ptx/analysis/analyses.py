"""All analyses of a function, each computed when it is first asked for, and once.

In: a function, and the module that it stands in.  Out: their results::

    analyses = Analyses(module.functions["matmul"], module)
    analyses.liveness.before[7], analyses.affine.addresses[7], analyses.pressure.ml2

The function keeps what was found, so that passes which ask the same of it share that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from comprehensive.ptx.analysis.accesses import Access, accesses_of
from comprehensive.ptx.analysis.affine import Affine, affine_of
from comprehensive.ptx.analysis.alias import Alias
from comprehensive.ptx.analysis.cfg import Cfg, cfg_of
from comprehensive.ptx.analysis.dominators import (
    PostTree,
    Tree,
    control_dependence_of,
    dominators_of,
    frontiers_of,
    postdominators_of,
)
from comprehensive.ptx.analysis.liveness import Liveness, liveness_of
from comprehensive.ptx.analysis.loops import Loops, loops_of
from comprehensive.ptx.analysis.operand_values import operand_values_of
from comprehensive.ptx.analysis.pressure import Pressure, live_words_of, pressure_of
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.spaces import Spaces, spaces_of, variable_spaces
from comprehensive.ptx.analysis.ssa import Ssa, ssa_of
from comprehensive.ptx.analysis.variance import Variance, variance_of
from comprehensive.ptx.flow import Flow, flow_of
from comprehensive.ptx.module import Function, Module

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Analyses:
    """The analyses of one function, each made when it is first asked for.

    ``parameters_are_global`` and ``assume_noalias`` are what the user vouches for: that pointers passed to
    kernels are into global memory, and into arrays of their own; ``pointers`` the memories of single
    parameters.
    """

    function: Function
    module: Module | None = None
    parameters_are_global: bool = False
    assume_noalias: bool = False
    pointers: Mapping[str, Space] = field(default_factory=dict[str, Space])

    @cached_property
    def flow(self) -> Flow:
        """The flow of the function; CompileError as :func:`flow_of`.

        All other analyses come from it and raise nothing else.
        """
        return flow_of(self.function)

    @cached_property
    def cfg(self) -> Cfg:
        return self._once("cfg", lambda: cfg_of(self.flow))

    @cached_property
    def dominators(self) -> Tree:
        return self._once("dominators", lambda: dominators_of(self.cfg))

    @cached_property
    def postdominators(self) -> PostTree:
        return self._once("postdominators", lambda: postdominators_of(self.cfg))

    @cached_property
    def frontiers(self) -> tuple[tuple[int, ...], ...]:
        return self._once("frontiers", lambda: frontiers_of(self.cfg, self.dominators))

    @cached_property
    def control_dependence(self) -> tuple[tuple[int, ...], ...]:
        return self._once("control_dependence", lambda: control_dependence_of(self.cfg, self.postdominators))

    @cached_property
    def loops(self) -> Loops:
        return self._once("loops", lambda: loops_of(self.cfg, self.dominators))

    @cached_property
    def liveness(self) -> Liveness:
        return self._once("liveness", lambda: liveness_of(self.cfg))

    @cached_property
    def ssa(self) -> Ssa:
        return self._once("ssa", lambda: ssa_of(self.cfg, self.dominators, self.frontiers, self.liveness))

    @cached_property
    def operand_values(self) -> tuple[tuple[int, ...], ...]:
        return self._once("operand_values", lambda: operand_values_of(self.ssa))

    @cached_property
    def spaces(self) -> Spaces:
        return self._once(
            ("spaces", self._vouched),
            lambda: spaces_of(
                self.ssa,
                self.operand_values,
                variable_spaces(self.flow, self._spaces_of_module),
                self.pointers,
                parameters_are_global=self.parameters_are_global,
                address_bits=self._address_bits,
            ),
        )

    @cached_property
    def variance(self) -> Variance:
        return self._once(
            ("variance", self._vouched),
            lambda: variance_of(self.ssa, self.dominators, self.control_dependence, self.loops, self.spaces),
        )

    @cached_property
    def affine(self) -> Affine:
        return self._once(
            "affine", lambda: affine_of(self.ssa, self.operand_values, self.loops, self.dominators)
        )

    @cached_property
    def accesses(self) -> Mapping[int, Access]:
        return self._once(("accesses", self._vouched), lambda: accesses_of(self.affine, self.spaces))

    @cached_property
    def alias(self) -> Alias:
        texts = {} if self.module is None else {n: v.text for n, v in self.module.variables.items()}
        return self._once(
            ("alias", self._vouched, self.assume_noalias, frozenset(texts.items())),
            lambda: Alias(self.affine, self.loops, self.spaces, texts, self.assume_noalias),
        )

    @cached_property
    def live_words(self) -> tuple[int, ...]:
        return self._once("live_words", lambda: live_words_of(self.liveness))

    @cached_property
    def pressure(self) -> Pressure:
        return self._once(
            ("pressure", self._vouched), lambda: pressure_of(self.liveness, self.ssa, self.variance)
        )

    @cached_property
    def _vouched(self) -> Hashable:
        """All that memory spaces depend on, beside the function."""
        of_module, pointers = frozenset(self._spaces_of_module.items()), frozenset(self.pointers.items())
        return of_module, self._address_bits, self.parameters_are_global, pointers

    @property
    def _spaces_of_module(self) -> Mapping[str, str]:
        return {} if self.module is None else {n: v.name for n, v in self.module.variables.items()}

    @property
    def _address_bits(self) -> int:
        return 64 if self.module is None else self.module.address_bits

    def _once(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """Return the result of ``find``, computed once for the same function and the same assumptions."""
        results = self.function.results
        if key not in results:
            results[key] = find()
        return results[key]
