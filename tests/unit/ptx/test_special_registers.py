"""Special registers by name."""

from __future__ import annotations

import pytest

from comprehensive.ptx.special_registers import special_register, special_registers


@pytest.mark.parametrize(
    ("name", "kind", "varies"),
    [
        ("%tid.x", "u32", "lane"),
        ("%tid.z", "u32", "lane"),
        ("%ntid.x", "u32", "grid"),
        ("%ctaid.y", "u32", "block"),
        ("%nctaid.r", "u32", "grid"),
        ("%laneid", "u32", "lane"),
        ("%warpid", "u32", "time"),
        ("%smid", "u32", "time"),
        ("%lanemask_lt", "u32", "lane"),
        ("%clock64", "u64", "time"),
        ("%globaltimer", "u64", "time"),
        ("%pm7", "u32", "time"),
        ("%pm0_64", "u64", "time"),
        ("%envreg31", "b32", "grid"),
        ("%cluster_ctarank", "u32", "block"),
        ("%is_explicit_cluster", "pred", "grid"),
        ("%dynamic_smem_size", "u32", "grid"),
        ("WARP_SZ", "u32", "grid"),
    ],
)
def test_a_special_register_has_a_type_and_differs_between_known_threads(name, kind, varies):
    register = special_register(name)
    assert register is not None
    assert (register.name, register.type, register.varies, register.vector) == (name, kind, varies, 1)


def test_one_with_components_is_a_vector_without_them():
    register = special_register("%tid")
    assert register is not None
    assert (register.type, register.vector) == ("u32", 4)


@pytest.mark.parametrize("name", ["%r1", "%tid.q", "%laneid.x", "%pm8", "%envreg32", "tid.x", "%tid.", ""])
def test_other_names_are_none(name):
    assert special_register(name) is None


def test_every_register_says_how_it_varies():
    assert {register.varies for register in special_registers().values()} <= {
        "lane",
        "warp",
        "block",
        "grid",
        "time",
    }
    assert len(special_registers()) >= 70
