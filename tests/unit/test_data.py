"""The data directories: found in both layouts, named where they are absent."""

from __future__ import annotations

import pytest

from comprehensive import data


def test_a_checkout_keeps_its_data_beside_the_package(tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / "comprehensive").mkdir()
    assert data._find("specs", tmp_path / "comprehensive") == tmp_path / "specs"


def test_a_wheel_keeps_its_data_inside_and_never_looks_outside(tmp_path):
    # A directory `specs` in site-packages belongs to someone else.
    (tmp_path / "specs").mkdir()
    inside = tmp_path / "comprehensive/_data/specs"
    inside.mkdir(parents=True)
    assert data._find("specs", tmp_path / "comprehensive") == inside


def test_a_broken_installation_says_where_it_looked(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"_data/templates \(wheel\).*/templates \(checkout\)"):
        data._find("templates", tmp_path / "comprehensive")


def test_this_checkout_has_both_directories():
    assert (data.spec_directory() / "machines/sm_90.toml").is_file()
    assert data.template_directory().is_dir()
