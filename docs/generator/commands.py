"""The command line as pages: a page for each command, with its arguments and options as click has them."""

from __future__ import annotations

import inspect

import click

from comprehensive.cli import cli


def command_pages() -> dict[str, str]:
    names = sorted(cli.commands)
    index = (
        "# Options\n\nAll options of every command, as `--help` prints them. [Commands](../commands.md) says what each "
        "is for.\n\n"
        "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n"
    )
    pages = {f"reference/options/{name}.md": _page(name, cli.commands[name]) for name in names}
    return {"reference/options/index.md": index, **pages}


def _page(name: str, command: click.Command) -> str:
    title = f"# comprehensive {name}\n\n"
    if not isinstance(command, click.Group):
        return title + _described(name, command)
    parts = [
        f"## {name} {inner}\n\n{_described(f'{name} {inner}', each)}"
        for inner, each in command.commands.items()
    ]
    return title + _help(command) + "\n" + "\n".join(parts)


def _described(name: str, command: click.Command) -> str:
    # click.Context knows the program by its name alone; pieces of the usage say what arguments there are.
    context = click.Context(command, info_name=f"comprehensive {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"```text\ncomprehensive {name} {usage}\n```\n", _help(command)]
    options = [
        row
        for option in command.params
        if isinstance(option, click.Option) and (row := option.get_help_record(context)) is not None
    ]
    if options:
        parts.append("| option | what it does |\n|---|---|\n" + "".join(_row(*option) for option in options))
    return "\n".join(part for part in parts if part)


def _help(command: click.Command) -> str:
    """The help of a command; what it keeps in lines is an example, to click as here."""
    shown: list[str] = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            shown.append(f"```text\n{paragraph.lstrip(chr(8)).strip()}\n```\n")
        else:
            shown.append(f"{_text(' '.join(paragraph.split()))}\n")
    return "\n".join(shown)


def _row(option: str, help: str) -> str:
    return f"| `{_cell(option)}` | {_cell(_text(help))} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _text(text: str) -> str:
    """Text that is no Markdown, as Markdown: placeholders such as `<stem>` and stars stay what they are."""
    return text.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")
