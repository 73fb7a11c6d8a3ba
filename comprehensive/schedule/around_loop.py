"""The statements at points before and after their serial loops, and the elements that these assign, in registers.

::

    float sum = 0;  for (k) sum += ..;  c[y0][y1] = sum;
        -->  all points: sum = 0;  the loop;  all points inside of the limits: c[y0][y1] = sum

Elements that the loops assign and that are the same in all their steps, as in ``c[y0][y1] += ...``, are held in
registers too: they are loaded before the loops and stored behind them, where these have steps at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.kernel_ir.kernel import OPAQUE, Comment, KernelStmt
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import constant
from comprehensive.loops.access import names_read
from comprehensive.metafork.ast import Assign, Binary, Call, Declare, Expr, For, If, Index, Name, Stmt
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.walk import arrays_assigned, elements_in
from comprehensive.records import replace
from comprehensive.schedule.context import ZERO, TileContext, commented
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, scalars_of


class AroundLoop(Struct, frozen=True):
    """``before`` and ``after`` are the statements of a point around its loops, ``before`` those between them as well;
    ``held`` are the elements that these assign, by array, where they have steps at all, as ``runs`` say."""

    context: TileContext
    before: tuple[Stmt, ...]
    after: tuple[Stmt, ...]
    held: Mapping[str, Index]
    runs: Mapping[str, Expr]
    are_several: bool = False
    """Whether there are loops beside each other."""

    @staticmethod
    def of(
        context: TileContext, loops: Sequence[tuple[For, Mapping[str, Index], Expr]]
    ) -> tuple[AroundLoop, tuple[tuple[Stmt, ...], ...]]:
        """Return what is around loops, and the statements before each of them that stand behind the one before.

        Each loop comes with the elements that it assigns and the condition that it has steps.
        """
        body = context.tile.alternatives[0].body
        places = [body.index(loop) for loop, _, _ in loops]
        begins = [0, *(place + 1 for place in places)]
        between = tuple(body[begin:place] for begin, place in zip(begins, places, strict=False))
        held: dict[str, Index] = {}
        runs: dict[str, Expr] = {}
        for _, assigned, run in loops:
            held |= assigned
            runs |= {name: Binary("||", runs[name], run) if name in runs else run for name in assigned}
        before = tuple(s for statements in between for s in statements)
        around = AroundLoop(context, before, body[begins[-1] :], held, runs, are_several=len(loops) > 1)
        return around, between

    @property
    def is_loop_alone(self) -> bool:
        """Whether nothing is stored but what one loop assigns: without steps there is nothing to do."""
        return not self.are_several and not arrays_assigned((*self.before, *self.after))

    def comments(self) -> tuple[Comment, ...]:
        """Return the comment on the elements and scalars that registers hold for the loop, if there are some."""
        arrays = [self.context.nest.array(name).pointer for name in self.held]
        names = [*arrays, *(s.name for s in self.before if isinstance(s, Declare))]
        each = " x ".join(c.each for c in self.context.tile.coordinates)
        said = Comment(f"accumulate({', '.join(names)}): {each} values in registers while the loop runs")
        return (said,) if names else ()

    def begun(self, jam: UnrollAndJam, before: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """Return statements before a loop at points inside of the limits; first
        values that are alike for all points are those of all, other scalars of points outside of the limits are 0."""
        arrays: list[Stmt] = []
        first: dict[str, Assign] = {}
        statements: list[Stmt] = []
        for statement in before:
            match statement:
                case Declare(type=type, name=name, initial=initial, span=span):
                    arrays.append(Declare(type, name, jam.shape()))
                    if initial is None or self._is_same_for_all_points(initial):
                        first[name] = Assign(Name(name), "=", ZERO if initial is None else initial, span)
                    else:
                        first[name] = Assign(Name(name), "=", ZERO)
                        statements.append(Assign(Name(name), "=", initial, span))
                case Assign(target=Name(name), operator="=", value=value) if not statements and (
                    self._is_same_for_all_points(value)
                ):
                    first[name] = statement
                case _:
                    statements.append(statement)
        begun = jam.at_points([jam.one(value) for value in first.values()]) if first else ()
        inside = [jam.one(statement) for statement in statements]
        return (
            *arrays,
            *begun,
            *(jam.at_points(inside, guards=self.context.inside()) if inside else ()),
        )

    def _is_same_for_all_points(self, value: Expr) -> bool:
        """Whether a value reads scalars of the nest alone."""
        return names_read(value) <= {s.name for s in self.context.nest.scalars}

    def loaded(self, jam: UnrollAndJam) -> tuple[Stmt, ...]:
        """The elements that the loop assigns, in registers; 0 outside of the limits and where there is no step."""
        result: list[Stmt] = []
        for name, reference in self.held.items():
            element = self.private(name)
            result.append(Declare(self.context.nest.array(name).type, element.array, jam.shape()))
            result += jam.at_points((Assign(element, "=", ZERO),))
            load = Assign(element, "=", self.context.flat(reference))
            if self.context.tile.steps is None:
                loads = jam.at_points((load,), guards=self.context.inside())
                result += self._where_touched(reference, loads)
            else:  # points differ in whether they have steps
                loads = self._where_touched(reference, (load,))
                result += jam.at_points(loads, guards=self.context.inside())
        return tuple(result)

    def stored(self, jam: UnrollAndJam) -> tuple[KernelStmt, ...]:
        """Return what follows the loop."""
        again, ends = self.behind(jam)
        stored = (*map(ends.one, self.after), *self.stores())
        return (*again, *ends.at_points(stored, guards=self.context.inside()))

    def behind(self, jam: UnrollAndJam) -> tuple[tuple[KernelStmt, ...], UnrollAndJam]:
        """Return the origin of the tile, and the points behind the loop: addresses are not kept from before it, since
        registers are dear there."""
        origins = range(len(self.context.tile.coordinates))
        again = tuple(
            constant(self.context.names[f"e{n}"], Call(OPAQUE, (self.context.name(f"o{n}"),)))
            for n in origins
        )
        ends = replace(
            jam,
            scalars=scalars_of(self.before),
            origins=tuple(self.context.name(f"e{n}") for n in origins),
        )
        arrays = arrays_assigned((*self.after, *self.stores()))
        data = [a.name for a in self.context.nest.arrays if a.name in arrays]
        said = "stored inside of the limits; addresses are not kept over the loop"
        return (commented(self.context, "accumulate", data, said), *again), ends

    def stores(self) -> tuple[Stmt, ...]:
        """Return the statements that store the elements that the loops assign."""
        return tuple(
            statement
            for name, reference in self.held.items()
            for statement in self._where_touched(
                reference, (Assign(flat(reference, self.context.strides), "=", self.private(name)),)
            )
        )

    def _where_touched(self, element: Index, accesses: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The accesses to an element that the loop assigns, under the condition that the program touches it at all.

        A loop without steps does not, and the element need not be there: unless a statement around it touches it.
        """
        around = (*self.before, *self.after)
        touched = {s.target for s in around if isinstance(s, Assign)} | set(elements_in(around))
        if element in touched or (self.is_loop_alone and self.context.tile.steps is None):
            return accesses
        return (If(self.runs[element.array], accesses),)

    def of_registers(self, expr: Expr) -> Expr:
        """The expression with its references in registers or in global memory."""

        def replaced(e: Expr) -> Expr:
            return self.private(e.array) if isinstance(e, Index) and e.array in self.held else e

        return self.context.flat(map_expression(expr, replaced))

    def private(self, array: str) -> Index:
        """The element of an array that the loop assigns."""
        indices = tuple(self.context.name(f"r{n}") for n in range(len(self.context.tile.coordinates)))
        return Index(self.context.names[f"private_{array}"], indices)
