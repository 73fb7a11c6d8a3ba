"""The two texts of nvdisasm, as far as they can be written down: JSON and the listing with life ranges."""

from __future__ import annotations

import json

import pytest

from comprehensive.sass.life_ranges import life_ranges
from comprehensive.sass.listing import Printed, printed_functions

LISTING = """\
\t.target\tsm_90
//--------------------- .text.GPR                   --------------------------
\t.section\t.text.GPR,"ax",@progbits
\t.align\t128
                                             // +-----------------+---------+----------------+
                                             // |       GPR       |  PRED   |     UGPR       |
                                             // |    00000000001  |         |    0000000000  |
                                             // |  # 01234567890  | # 0123  |  # 0123456789  |
                                             // +-----------------+---------+----------------+
        .global         GPR                  // |                 |         |                |
GPR:                                         // |                 |         |                |
.text.GPR:                                   // |                 |         |                |
        /*0000*/   LDC R1, c[0x0][0x28] ;    // |  1  ^           |         |                |
        /*0010*/   ULDC.64 UR8, c[0x0][0x8] ;// |  1  :           |         |  2         ^^  |
.L_x_2:                                      // |  1  :           |         |  2         ::  |
        /*0020*/   BRX R4 -0x630 (*"BRANCH_TARGETS .L_x_3,.L_x_2"*); // |  4  :  vv    :  | 1 v     |                |
.L_x_3:                                      // +.................+.........+................+
$GPR$f:                                      // |                 |         |                |
        /*0030*/  @!P3 IADD3 R10, R10, 0x1 ; // |  2  :        x  | 1    v  |                |
\t.section\t.text.other,"ax",@progbits
                                             // +-----+
                                             // | GPR |
                                             // | # 0 |
                                             // +-----+
        /*0000*/   EXIT ;                    // |     |
"""


def test_marks_are_registers_that_are_written_read_or_hold_a_value() -> None:
    # As nvdisasm does, all lines are of one width.
    width = max(line.find("// ") for line in LISTING.splitlines())
    lines = [
        f"{left:<{width}}// {right}" if bar else line
        for line in LISTING.splitlines()
        for left, bar, right in [line.partition("// ")]
        if not line.startswith("//-")
    ]
    found = life_ranges("\n".join(lines))
    assert list(found) == ["GPR", "other"]
    rows = found["GPR"].rows
    assert list(rows) == [0, 0x10, 0x20, 0x30]
    assert rows[0].defines.names == rows[0].live.names == ("R1",)
    assert rows[0x10].defines.names == ("UR8", "UR9")
    assert rows[0x10].live.names == ("R1", "UR8", "UR9")
    assert rows[0x20].uses.names == ("R4", "R5", "P0")
    assert rows[0x20].live.names == ("R1", "R4", "R5", "R10", "P0")
    assert rows[0x20].live.counts == (4, 1, 0, 0)
    assert rows[0x30].defines.names == ("R10",)
    assert rows[0x30].uses.names == ("R10", "P3")
    assert found["GPR"].labels == {0: ("GPR",), 0x20: (".L_x_2",), 0x30: (".L_x_3", "$GPR$f")}
    assert found["GPR"].jumps == {0x20: (0x30, 0x20)}


def test_a_listing_without_registers_is_refused() -> None:
    with pytest.raises(ValueError, match="no columns of registers"):
        life_ranges('\t.section\t.text.k,"ax",@progbits\n        /*0000*/   EXIT ;\n')


def document(**instruction: str) -> str:
    return json.dumps([{}, [{"function-name": "k", "sass-instructions": [instruction]}]])


def test_instructions_are_read_from_the_json() -> None:
    text = document(predicate="@!P0", opcode="BRA", operands="0x510")
    assert printed_functions(text) == {"k": (Printed("@!P0", "BRA", "0x510"),)}
    assert printed_functions(document(opcode="EXIT")) == {"k": (Printed("", "EXIT", ""),)}


def test_an_operand_that_is_given_as_a_guard_is_an_operand() -> None:
    text = document(predicate="PR", opcode="P2R", operands="R6,RZ,0x20")
    assert printed_functions(text) == {"k": (Printed("", "P2R", "R6,PR,RZ,0x20"),)}


@pytest.mark.parametrize("text", ["", "{}", "[]", "[{}, [{}]]", '[{}, [{"function-name": "k"}]]', "[{}, 3]"])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="of another form"):
        printed_functions(text)
