"""The built wheel, installed where nothing of the checkout can be seen, does the whole job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _run(command: list[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    # PYTHONPATH would let the checkout in; the rest of the environment is the user's.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    answer = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, f"{command}\n{answer.stdout}{answer.stderr}"
    return answer


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT], ROOT)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def prefix(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and the dependencies, and without the checkout.

    The dependencies are lent by this environment through a path file, so that the test is quick and needs no
    network. Path files inside a directory added by a path file are not processed, so that the editable install
    of the checkout does not come along; :func:`test_the_installed_package_is_the_wheels` makes sure of it.
    """
    prefix = tmp_path_factory.mktemp("installed")
    _run([sys.executable, "-m", "venv", "--without-pip", prefix], prefix)
    site = next(prefix.glob("lib/python*/site-packages"))
    lenders = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (site / "lent.pth").write_text("\n".join(lenders) + "\n")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        prefix / "bin/python",
        "install",
        "--no-compile",
        "--no-deps",
        "--no-index",
    ]
    _run([*pip, "--ignore-installed", "--quiet", wheel], prefix)
    return prefix


def test_the_wheel_holds_the_package_its_data_and_nothing_else(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"comprehensive"}
    for folder in ("specs", "templates"):
        packed = {
            n.removeprefix("comprehensive/_data/")
            for n in names
            if n.startswith(f"comprehensive/_data/{folder}/")
        }
        there = {str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*") if p.is_file()}
        assert packed == {name for name in there if "__pycache__" not in name}
    assert "comprehensive/py.typed" in names


def test_the_installed_package_is_the_wheels(prefix: Path, tmp_path: Path):
    program = (
        "import json, comprehensive, comprehensive.data as data\n"
        "print(json.dumps([comprehensive.__file__, str(data.template_directory()), str(data.spec_directory())]))"
    )
    places = json.loads(_run([prefix / "bin/python", "-c", program], tmp_path).stdout)
    package = next(prefix.glob("lib/python*/site-packages")).resolve() / "comprehensive"
    assert [Path(place).resolve() for place in places] == [
        package / "__init__.py",
        package / "_data/templates",
        package / "_data/specs",
    ]


def test_the_installed_command_generates_from_an_example(prefix: Path, tmp_path: Path):
    (tmp_path / "reverse.mf").write_text((ROOT / "specs/reverse.mf").read_text())
    _run(
        [
            prefix / "bin/comprehensive",
            "gen",
            "reverse.mf",
            "--registers",
            "estimate",
            "--no-verify",
            "-o",
            "out",
        ],
        tmp_path,
    )
    for name in ("reverse.h", "reverse.cu", "reverse.json"):
        assert (tmp_path / "out" / name).stat().st_size > 0, name
    json.loads((tmp_path / "out/reverse.json").read_text())


def test_the_version_is_stated_once(prefix: Path, wheel: Path, tmp_path: Path):
    program = "import comprehensive; print(comprehensive.__version__)"
    version = _run([prefix / "bin/python", "-c", program], tmp_path).stdout.strip()
    assert wheel.name.startswith(f"comprehensive-{version}-")
