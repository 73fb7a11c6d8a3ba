"""A semi-algebraic system as a value: where a leaf runs, what an edge of the tree demands, what contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from comprehensive import algebra
from comprehensive.algebra import parameters_of, with_quotients
from comprehensive.api.given import Given, given
from comprehensive.machine.device import load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.report.system_html import system_html
from comprehensive.report.system_latex import Mathematics
from comprehensive.values import value_error


@dataclass(frozen=True, slots=True)
class System:
    """Conditions on parameters and limits of the machine, all of which hold; ``str`` has them in a line.

    ``exact`` is the system as computer algebra has it, ``notation`` how its tree prints symbols.
    """

    exact: algebra.System = field(repr=False)
    notation: Mathematics = field(repr=False)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return each condition as the paper writes it, ``2*s*B + 2 <= Z_B``, limits alone on one side."""
        return self.exact.format(self.notation.order, self.notation.limits)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what holds in any case, such as ``1 <= B``."""
        notation = self.notation
        return tuple(atom.format(notation.order, notation.limits) for atom in self.exact.assumptions)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The parameters and limits that its conditions depend on, sorted."""
        found = (name for atom in self.exact.atoms for name in atom.symbols)
        return tuple(sorted(parameters_of(found, self.notation.quotients)))

    @property
    def latex(self) -> tuple[str, ...]:
        """Each condition in LaTeX, without the signs that begin and end mathematics."""
        return tuple(self.notation.atom(atom) for atom in self._atoms)

    def holds(
        self,
        values: Mapping[str, Given] | None = None,
        /,
        *,
        device: str | Path | None = None,
        **named: Given,
    ) -> bool:
        """Whether all conditions hold at values of their symbols, decided exactly.

        Limits are those of the ``device``, a name or the path of a TOML file, where they are not given.  Raises
        CompileError for a device that is not known (CF0801) and for symbols without a value (CF0706), TypeError for
        what is no exact number.
        """
        limits: Mapping[str, int] = {} if device is None else load_device(device).parameters()
        known = {**limits, **given(values, named)}
        missing = [name for name in self.symbols if name not in known]
        if missing:
            raise value_error(
                "CF0706",
                f"the system also depends on {', '.join(missing)}",
                "give values to all of its symbols, or a device for the limits of the machine",
            )
        point = with_quotients(known, self.notation.quotients)
        return all(atom.holds(point) for atom in self.exact.atoms)

    def __str__(self) -> str:
        return ", ".join(self.conditions) or "always"

    def __repr__(self) -> str:
        return f"<system {self}>"

    def _repr_html_(self) -> str:
        pairs = zip(self._atoms, self.conditions, strict=True)
        return system_html([(text, _meaning(atom.symbols)) for atom, text in pairs])

    def _repr_latex_(self) -> str:
        return self.notation.displayed(self._atoms)

    @property
    def _atoms(self) -> tuple[algebra.Atom, ...]:
        return self.exact.in_order(self.notation.order, self.notation.limits)


def _meaning(symbols: tuple[str, ...]) -> str:
    """Return the meaning of the limits of the machine among the symbols."""
    known = (MACHINE_PARAMETERS[name] for name in symbols if name in MACHINE_PARAMETERS)
    return "; ".join(f"{each.symbol}: {each.meaning}, in {each.unit}" for each in known)
