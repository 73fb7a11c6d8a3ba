"""Documents and pictures of the examples: as their schemas say, well formed, and the same bytes again."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from comprehensive import explanation, pictures
from comprehensive.generate import tree_document
from comprehensive.loops.ir import Role
from comprehensive.machine.device import load_device
from comprehensive.report.access_svg import accesses_svg
from comprehensive.report.accesses import document as accesses_document
from comprehensive.report.tiles import document as tiles_document
from tests.compiled_specs import SPECS, compiled
from tests.schemas import SCHEMAS, schema_faults, validator

DEVICE = load_device("sm_90")
QUICK = {"jacobi1d", "matmul", "transpose"}


def values(spec: str, program: int = 8, size: int = 96) -> dict[str, int]:
    """A value for every scalar that the caller gives."""
    return {
        scalar.name: program if scalar.role is Role.PROGRAM else size
        for nest in compiled(spec).nests
        for scalar in nest.scalars
        if scalar.type.is_integer and scalar.value is None
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(validator(name).schema)


@pytest.mark.parametrize("spec", SPECS)
def test_documents_are_as_their_schemas_say(spec: str) -> None:
    compilation = compiled(spec)
    explained = explanation.to_json(explanation.explain(compilation, DEVICE, values(spec)))
    accesses = accesses_document(pictures.accesses_of(compilation, DEVICE, values(spec)))
    open_accesses = accesses_document(pictures.accesses_of(compilation, DEVICE, {}))
    for name, document in (
        ("trees", tree_document(compilation)),
        ("explain", {**explained, "accesses": accesses}),
        ("explain", explanation.to_json(explanation.explain(compilation, DEVICE, {}))),
        ("accesses", accesses),
        ("accesses", open_accesses),
    ):
        assert schema_faults(name, json.loads(json.dumps(document))) == []


def test_a_document_with_a_fault_deep_inside_is_found() -> None:
    document = tree_document(compiled("transpose"))
    document["regions"][0]["tree"]["nodes"][0]["colour"] = "red"
    assert [fault for fault in schema_faults("trees", document) if "$.regions[0].tree.nodes[0]" in fault]


def test_pictures_are_the_same_bytes_again() -> None:
    compilation, known = compiled("transpose"), values("transpose")
    drawn = [
        (
            accesses_svg(pictures.accesses_of(compilation, DEVICE, known), "transpose"),
            pictures.tiles_picture(compilation, pictures.tiles_of(compilation, DEVICE, known)),
        )
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "spec", [pytest.param(s, marks=() if s in QUICK else pytest.mark.slow) for s in SPECS]
)
def test_every_leaf_and_the_first_tile_of_each_recipe_have_pictures(spec: str) -> None:
    compilation = compiled(spec)
    regions = [region for function in compilation.plan.functions for region in function.regions]
    numbers = {leaf.index for region in regions for leaf in region.leaves}
    numbers |= {plan.first for region in regions for plan in region.tilings}
    for number in (None, *sorted(numbers)):
        known = values(spec)
        blocks = pictures.tiles_of(compilation, DEVICE, known, number)
        ET.fromstring(pictures.tiles_picture(compilation, blocks))
        assert schema_faults("tiles", tiles_document(blocks)) == []
        found = pictures.accesses_of(compilation, DEVICE, known, number)
        ET.fromstring(accesses_svg(found, spec))
    open_blocks = pictures.tiles_of(compilation, DEVICE, {})
    ET.fromstring(pictures.tiles_picture(compilation, open_blocks))
    assert schema_faults("tiles", tiles_document(open_blocks)) == []
    ET.fromstring(accesses_svg(pictures.accesses_of(compilation, DEVICE, {}), spec))


@pytest.mark.parametrize("spec", SPECS)
def test_addresses_of_a_launch_bear_out_what_strides_foretell(spec: str) -> None:
    """With 32 threads along x, a warp is what the counters suppose; a row may begin inside of a sector."""
    compilation = compiled(spec)
    known = values(spec, program=32, size=2048)
    exact = pictures.accesses_of(compilation, DEVICE, known, 0)
    foretold = pictures.accesses_of(compilation, DEVICE, {}, 0)
    for measured, symbolic in zip(exact, foretold, strict=True):
        by_site = {(row.site.text, row.site.writes): row for row in symbolic.rows}
        for row in measured.rows:
            told = by_site[row.site.text, row.site.writes]
            full = all(lane is not None for lane in row.lanes)
            if told.is_bound or not full:
                assert row.served.units <= told.most + 1
            else:
                assert 0 <= row.served.units - told.most <= 1
