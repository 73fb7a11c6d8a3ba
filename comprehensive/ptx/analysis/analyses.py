"""All analyses of a function, each computed when it is first asked for, and once.

In: a function, and the module that it stands in.  Out: their results::

    analyses = Analyses(module.functions["matmul"], module)
    analyses.liveness.before[7], analyses.affine.addresses[7], analyses.pressure.ml2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

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
from comprehensive.ptx.analysis.pressure import Pressure, pressure_of
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.spaces import Spaces, spaces_of, variable_spaces
from comprehensive.ptx.analysis.ssa import Ssa, ssa_of
from comprehensive.ptx.analysis.variance import Variance, variance_of
from comprehensive.ptx.flow import Flow, flow_of
from comprehensive.ptx.module import Function, Module


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
        return cfg_of(self.flow)

    @cached_property
    def dominators(self) -> Tree:
        return dominators_of(self.cfg)

    @cached_property
    def postdominators(self) -> PostTree:
        return postdominators_of(self.cfg)

    @cached_property
    def frontiers(self) -> tuple[tuple[int, ...], ...]:
        return frontiers_of(self.cfg, self.dominators)

    @cached_property
    def control_dependence(self) -> tuple[tuple[int, ...], ...]:
        return control_dependence_of(self.cfg, self.postdominators)

    @cached_property
    def loops(self) -> Loops:
        return loops_of(self.cfg, self.dominators)

    @cached_property
    def liveness(self) -> Liveness:
        return liveness_of(self.cfg)

    @cached_property
    def ssa(self) -> Ssa:
        return ssa_of(self.cfg, self.dominators, self.frontiers, self.liveness)

    @cached_property
    def operand_values(self) -> tuple[tuple[int, ...], ...]:
        return operand_values_of(self.ssa)

    @cached_property
    def spaces(self) -> Spaces:
        of_module = {} if self.module is None else {n: v.name for n, v in self.module.variables.items()}
        return spaces_of(
            self.ssa,
            self.operand_values,
            variable_spaces(self.flow, of_module),
            self.pointers,
            parameters_are_global=self.parameters_are_global,
            address_bits=64 if self.module is None else self.module.address_bits,
        )

    @cached_property
    def variance(self) -> Variance:
        return variance_of(self.ssa, self.dominators, self.control_dependence, self.loops, self.spaces)

    @cached_property
    def affine(self) -> Affine:
        return affine_of(self.ssa, self.operand_values, self.loops, self.dominators)

    @cached_property
    def accesses(self) -> Mapping[int, Access]:
        return accesses_of(self.affine, self.spaces)

    @cached_property
    def alias(self) -> Alias:
        texts = {} if self.module is None else {n: v.text for n, v in self.module.variables.items()}
        return Alias(self.affine, self.loops, self.spaces, texts, self.assume_noalias)

    @cached_property
    def pressure(self) -> Pressure:
        return pressure_of(self.liveness, self.ssa, self.variance)
