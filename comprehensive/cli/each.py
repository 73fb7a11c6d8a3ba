"""The command ``comprehensive each``: one run of another command for each of several programs.

Commands take one SOURCE; hooks and build systems have lists of files::

    comprehensive each gen --check -o out a.mf b.mf      # gen --check -o out a.mf, then gen --check -o out b.mf
"""

from __future__ import annotations

import sys

import click


@click.command("each", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command")
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def each_command(context: click.Context, command: str, arguments: tuple[str, ...]) -> None:
    """Run COMMAND once for each of the .mf files that its ARGUMENTS end with; the exit code is the largest one.

    \b
    comprehensive each gen --check -o out a.mf b.mf
    """
    group = context.find_root().command
    found = group.get_command(context, command) if isinstance(group, click.Group) else None
    if found is None:
        raise click.UsageError(f"there is no command '{command}'")
    first = len(arguments)
    while first and arguments[first - 1].endswith(".mf"):
        first -= 1
    options, sources = arguments[:first], arguments[first:]
    if not sources:
        raise click.UsageError(
            "no .mf file stands at the end, as in `comprehensive each gen --check a.mf b.mf`"
        )
    sys.exit(max(_exit_code(found, [*options, source]) for source in sources))


def _exit_code(command: click.Command, arguments: list[str]) -> int:
    try:
        command.main(arguments, prog_name=f"comprehensive {command.name}")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0
