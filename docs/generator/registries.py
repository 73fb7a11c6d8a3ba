"""Pages of counters, strategies, passes, recipes and devices, which are chosen by name, from their registries."""

from __future__ import annotations

import ast
from dataclasses import fields
from importlib import import_module
from pathlib import Path

from comprehensive import registry, schedule
from comprehensive.machine.device import device_names, devices
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.ptx.passes.registry import PASSES, class_of
from comprehensive.schedule.recipes.registry import OF_LOOPS, ROWS, Where
from docs.generator.docstrings import first_paragraph, markdown


def registry_pages() -> dict[str, str]:
    return {
        "reference/counters.md": _counters(),
        "reference/strategies.md": _strategies(),
        "reference/passes.md": _passes(),
        "reference/recipes.md": _recipes(),
        "reference/devices.md": _devices(),
    }


def _counters() -> str:
    every = registry.counters()
    counters = [every.get(name) for name in every.names]
    rows = [
        (f"`{counter.name}`", f"`{counter.limit}`", counter.kind.value, first_paragraph(type(counter)))
        for counter in counters
    ]
    families = [
        (f"`{name}`", ", ".join(f"`{n}`" for n in names)) for name, names in registry.FAMILIES.items()
    ]
    return _page(
        "Counters",
        "What `tree`, `gen`, `explain` and `check` count of a kernel. Resources are counted in any case, performance "
        "where `--counters` names it. `comprehensive/counters/README.md` says how each is counted.",
        _table(("name", "limit", "kind", "what it counts"), rows),
        "## Names that stand for several\n",
        _table(("name", "counters"), families),
    )


def _strategies() -> str:
    every = registry.strategies()
    default = {strategy.name for strategy in registry.default_strategies()}
    parts: list[str] = []
    modules: dict[str, list[str]] = {}
    rows: list[tuple[str, ...]] = []
    for name in every.names:
        strategy = every.get(name)
        modules.setdefault(type(strategy).__module__, []).append(name)
        rows.append(
            (
                f"`{name}`",
                "yes" if name in default else "where a counter asks for it",
                " / ".join(f"({code})" for code in strategy.decision if code) or "none",
                ", ".join(f"`{counter}`" for counter in strategy.improves),
            )
        )
    for module, names in modules.items():
        parts.append(f"## {', '.join(names)}\n\n{markdown(import_module(module))}")
    compiled = ", ".join(f"`{name}`" for name in registry.COMPILED)
    return _page(
        "Strategies",
        "What the optimizer may do to a kernel that exceeds a limit, in the order in which it is tried. A decision is "
        "what a leaf says where the strategy was taken, and where it was not. Where kernels are compiled (`--embed`), "
        f"{compiled} are tried before values are spilled. `comprehensive/strategies/README.md` has the laws that all "
        "of them obey.",
        _table(("name", "by default", "decision", "improves"), rows),
        *parts,
    )


def _passes() -> str:
    parts: list[str] = []
    for name in PASSES:
        kind = class_of(name)
        parts.append(f"## {name}\n\n{markdown(import_module(kind.__module__))}")
        options = [
            (f"`{option.name}`", f"`{option.default}`".lower(), str(option.metadata["help"]))
            for option in fields(kind)
        ]
        if options:
            parts.append(_table(("option", "default", "what it says"), options))
    return _page(
        "PTX passes",
        "Passes of `comprehensive opt`, `comprehensive ptxas` and `--passes`; a pipeline is "
        "`memory-space,unroll{factor=2},dce`. `comprehensive/ptx/passes/README.md` says how they work together.",
        *parts,
    )


def _recipes() -> str:
    every = [(choice.recipe, number, choice.where) for number, row in enumerate(ROWS, 1) for choice in row]
    rows = [
        (_linked(recipe.name), ", ".join(text for flag, text in _WHERE.items() if flag in where), str(number))
        for recipe, number, where in every
    ]
    rows += [
        (_linked(recipe.name), "beside the others, in a loop of host code", "none") for recipe in OF_LOOPS
    ]
    recipes = (*(recipe for recipe, _, _ in every), *OF_LOOPS)
    return _page(
        "Recipes and primitives",
        "A recipe cuts points into tiles and does them; it stands at the root of the tree as an alternative to the "
        "nest as written. [Primitives](#primitives) are the steps that recipes are composed of. "
        "`comprehensive/schedule/README.md` names the content of each file. The sizes for which kernels are compiled "
        "stand in `specs/instances.toml`.",
        _table(("recipe", "the first one of its row that fits", "row"), rows),
        *(f"## {recipe.name}\n\n{markdown(import_module(type(recipe).__module__))}" for recipe in recipes),
        "## Primitives\n",
        *(
            f"### {name}\n\n{markdown(import_module(f'comprehensive.schedule.{name}'))}"
            for name in primitives()
        ),
    )


def primitives() -> tuple[str, ...]:
    """The modules of `comprehensive.schedule` whose docstrings begin with their names, as in "Unroll and jam: ..."."""
    folder = Path(schedule.__path__[0])
    return tuple(path.stem for path in sorted(folder.glob("*.py")) if _is_primitive(path))


def _is_primitive(module: Path) -> bool:
    described = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return described.startswith(module.stem.replace("_", " ").capitalize() + ":")


_WHERE = {
    Where.IN_ORDER: "always",
    Where.IN_ANY_ORDER: "with `--reassociate`",
    Where.ATOMIC: "where points update atomically",
    Where.ON_A_LINE: "where coordinates collapse",
}


def _linked(recipe: str) -> str:
    return f"[{recipe}](#{recipe.replace(' ', '-')})"


def _devices() -> str:
    known = [
        (
            f"`{given}`",
            device.name,
            ", ".join(f"`{speed}`" for speed in device.measured) or "none",
            *(str(value) for value in device.parameters().values()),
        )
        for given, device in zip(device_names(), devices(), strict=True)
    ]
    return _page(
        "Devices and their limits",
        "Symbols that only a device gives a value. `comprehensive devices NAME` prints all that is known of one, its "
        "speeds included, and a machine file of your own goes wherever a device is asked for.",
        _table(
            ("symbol", "meaning", "unit", "every device has at least"),
            [(f"`{p.symbol}`", p.meaning, p.unit, str(p.minimum)) for p in MACHINE_PARAMETERS.values()],
        ),
        "## Known devices\n",
        _table(
            ("device", "name", "speeds measured", *(f"`{symbol}`" for symbol in devices()[0].parameters())),
            known,
        ),
    )


def _page(title: str, introduction: str, *parts: str) -> str:
    return "\n".join([f"# {title}\n", f"{introduction}\n", *parts])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
