"""The command line, one module a command: it parses arguments, calls the stage behind the command and prints.

Stages are imported when a command runs, so that ``--help`` stays instant.
"""

from __future__ import annotations

import click

from comprehensive import __version__
from comprehensive.cli.calibrate import calibrate_command
from comprehensive.cli.check import check_command
from comprehensive.cli.config import config_command
from comprehensive.cli.demo import demo_command
from comprehensive.cli.devices import devices_command
from comprehensive.cli.doctor import doctor_command
from comprehensive.cli.each import each_command
from comprehensive.cli.explain import explain_command
from comprehensive.cli.gen import gen_command
from comprehensive.cli.lsp import lsp_command
from comprehensive.cli.occupancy import occupancy_command
from comprehensive.cli.opt import opt_command
from comprehensive.cli.patch_spills import patch_spills_command
from comprehensive.cli.picture import picture_command
from comprehensive.cli.ptxas import ptxas_command
from comprehensive.cli.report import report_command
from comprehensive.cli.sass import sass_command
from comprehensive.cli.tree import tree_command
from comprehensive.cli.tune import tune_command
from comprehensive.collection import seldom_collected


def main() -> None:
    """Entry point of the ``comprehensive`` command."""
    with seldom_collected():
        cli(prog_name="comprehensive")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="comprehensive")
def cli() -> None:
    """One annotated loop nest in, one CUDA header out: a case discussion, correct on every GPU.

    \b
    comprehensive gen matmul.mf -o out/     write the header, the kernels, the tree
    comprehensive tree matmul.mf            see which variant runs when, and why
    comprehensive report matmul.mf          the same as a page with sliders
    """


for _command in (
    gen_command,
    tree_command,
    explain_command,
    picture_command,
    report_command,
    check_command,
    tune_command,
    calibrate_command,
    devices_command,
    doctor_command,
    opt_command,
    ptxas_command,
    sass_command,
    occupancy_command,
    patch_spills_command,
    demo_command,
    each_command,
    config_command,
    lsp_command,
):
    cli.add_command(_command)
