"""The table of opcodes, against lists made by hand."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from comprehensive.ptx.opcode_table import Effect, find_row, rows, type_bits
from comprehensive.ptx.opcodes import Role, bits, opcode
from comprehensive.ptx.signatures import parse_slots, signature
from tests.unit.ptx.statements import WIDTHS, Line, listed, misfits, split_operands

ROLES = {
    "D": Role.DEF,
    "U": Role.USE,
    "X": Role.DEF_USE,
    "A": Role.ADDRESS,
    "L": Role.LABEL,
    "T": Role.TARGETS,
    "C": Role.CALLEE,
    "S": Role.SYMBOL,
    "K": Role.CONSTANT,
}
EFFECTS = {
    "": Effect.NONE,
    "r": Effect.READ,
    "w": Effect.WRITE,
    "rw": Effect.READ | Effect.WRITE,
    "b": Effect.BARRIER,
    "rb": Effect.READ | Effect.BARRIER,
    "wb": Effect.WRITE | Effect.BARRIER,
    "rwb": Effect.READ | Effect.WRITE | Effect.BARRIER,
}

# Instruction | roles | types | effect, space.
EXPECTED = """
abs.f32 %f1, %f2                            | D U       | f32 f32
activemask.b32 %r1                          | D         | b32
add.s32 %r1, %r2, 1                         | D U U     | s32 s32 s32
add.rn.f32.f16 %f1, %h1, %f2                | D U U     | f32 f16 f32
addc.cc.u32 %r1, %r2, %r3                   | D U U     | u32 u32 u32
alloca.u64 %rd1, %rd2, 16                   | D U K     | u64 u64 -
and.pred %p1, %p2, %p3                      | D U U     | pred pred pred
atom.global.add.f32 %f1, [%rd1], %f2        | D A U     | f32 - f32 | rw global
atom.shared.cas.b32 %r1, [%r2], %r3, %r4    | D A U U   | b32 - b32 b32 | rw shared
atom.add.L2::cache_hint.u32 %r1, [%rd1], %r2, %rd2 | D A U U | u32 - u32 b64 | rw generic
atom.acquire.gpu.global.exch.b64 %rd1, [%rd2], %rd3 | D A U | b64 - b64 | rwb global
atom.global.v2.f32.add {%f1, _}, [%rd1], {%f3, %f4} | D A U | f32 - f32 | rw global
bar.sync 0                                  | U         | u32 | b
bar.sync 1, %r1                             | U U       | u32 u32 | b
bar.red.popc.u32 %r1, 0, %p1                | D U U     | u32 u32 pred | b
bar.red.and.pred %p1, 0, 64, !%p2           | D U U U   | pred u32 u32 pred | b
bar.warp.sync %r1                           | U         | b32 | b
barrier.cluster.arrive.release.aligned      |           | | b
bfe.s64 %rd1, %rd2, %r1, %r2                | D U U U   | s64 s64 u32 u32
bfi.b32 %r1, %r2, %r3, 4, 5                 | D U U U U | b32 b32 b32 u32 u32
bfind.shiftamt.u64 %r1, %rd2                | D U       | u32 u64
bmsk.clamp.b32 %r1, %r2, %r3                | D U U     | b32 u32 u32
bra.uni $L__BB0_1                           | L         | -
brev.b64 %rd1, %rd2                         | D U       | b64 b64
brkpt                                       |           | | b
brx.idx %r1, table                          | U T       | u32 -
clz.b64 %r1, %rd2                           | D U       | u32 b64
cnot.b16 %h1, %h2                           | D U       | b16 b16
copysign.f64 %fd1, %fd2, %fd3               | D U U     | f64 f64 f64
cos.approx.ftz.f32 %f1, %f2                 | D U       | f32 f32
cp.async.ca.shared.global [%r1], [%rd1], 4  | A A K     | - - - | rw shared
cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2 | A A K U | - - - b64 | rw shared
cp.async.commit_group                       |           |
cp.async.wait_group 1                       | K         | - | b
cp.async.mbarrier.arrive.noinc.shared.b64 [%r1] | A     | - | b shared
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3] | A A U A | - - u32 - | rw shared::cluster
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], %r2, [%r3], %h1 | A A U A U | - - u32 - b16 | rw shared::cluster
cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [%r1], %r2, %rd2 | A A U U | - - u32 b64 | rw global
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r4}], [%r3] | A A A | - - - | rw shared::cluster
cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r4, %r5, %r6}], [%r3], {%h1, %h2} | A A A U | - - - b16 | rw shared::cluster
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, %r4}], [%r1] | A A | - - | rw global
cp.async.bulk.prefetch.L2.global [%rd1], %r2 | A U      | - u32 | r global
cp.async.bulk.wait_group.read 0             | K         | - | b
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r2], %r3 | A A U | - - u32 | rw global
createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F000000 | D U | b64 f32
createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd2], %r1, %r2 | D A U U | b64 - u32 u32
cvt.f32.s32 %f1, %r1                        | D U       | f32 s32
cvt.rn.f16x2.f32 %r1, %f1, %f2              | D U U     | f16x2 f32 f32
cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2         | D U U U   | f16x2 f32 f32 b32
cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2 | D U U | e4m3x4 f32 b32
cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2   | D U U     | e4m3x2 f32 f32
cvt.pack.sat.s8.s32.b32 %r1, %r2, %r3, %r4  | D U U U   | b32 s32 s32 b32
cvta.to.global.u64 %rd1, %rd2               | D U       | u64 u64
cvta.shared.u64 %rd1, variable              | D U       | u64 u64
discard.global.L2 [%rd1], 128               | A K       | - - | w global
div.full.f32 %f1, %f2, %f3                  | D U U     | f32 f32 f32
dp4a.u32.s32 %r1, %r2, %r3, %r4             | D U U U   | b32 u32 s32 b32
elect.sync _|%p1, %r1                       | D U       | b32 b32
ex2.approx.f16x2 %r1, %r2                   | D U       | f16x2 f16x2
exit                                        |           |
fence.acq_rel.gpu                           |           | | b
fence.proxy.async.shared::cta               |           | | b
fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128 | A K | - - | b generic
fma.rn.f64 %fd1, %fd2, %fd3, %fd4           | D U U U   | f64 f64 f64 f64
fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4       | D U U U   | bf16x2 bf16x2 bf16x2 bf16x2
fma.rn.f32.f16 %f1, %h2, %h3, %f4           | D U U U   | f32 f16 f16 f32
fns.b32 %r1, %r2, %r3, %r4                  | D U U U   | b32 b32 b32 s32
getctarank.shared::cluster.u32 %r1, %r2     | D U       | u32 u32
griddepcontrol.wait                         |           | | b
isspacep.shared %p1, %rd1                   | D U       | pred -
ld.global.f32 %f1, [%rd1+4]                 | D A       | f32 - | r global
ld.f32.global %f1, [%rd1]                   | D A       | f32 - | r global
ld.u8 %h1, [%rd1]                           | D A       | u8 - | r generic
ld.global.nc.v4.f32 {%f1, _, %f3, %f4}, [%rd1] | D A    | f32 - | r global
ld.shared::cta.b64 %rd1, [%r1]              | D A       | b64 - | r shared
ld.shared::cluster.b64 %rd1, [%r1]          | D A       | b64 - | r shared::cluster
ld.param.u64 %rd1, [kernel_param_0]         | D A       | u64 - | r param
ld.param::func.u64 %rd1, [retval0]          | D A       | u64 - | r param
ld.acquire.gpu.u32 %r1, [%rd1]              | D A       | u32 - | rb generic
ld.volatile.shared.u32 %r1, [%r2]           | D A       | u32 - | r shared
ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2 | D A U  | f32 - b64 | r global
ldu.global.v2.f32 {%f1, %f2}, [%rd1]        | D A       | f32 - | r global
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5] | D A | b32 - | r shared
lg2.approx.f32 %f1, %f2                     | D U       | f32 f32
lop3.b32 %r1, %r2, %r3, %r4, 0x3f           | D U U U K | b32 b32 b32 b32 -
lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, %p2 | D U U U K U | b32 b32 b32 b32 - pred
mad.lo.s32 %r1, %r2, %r3, %r4               | D U U U   | s32 s32 s32 s32
mad.wide.s32 %rd1, %r2, 4, %rd2             | D U U U   | s64 s32 s32 s64
mad.wide.u16 %r1, %h1, %h2, %r2             | D U U U   | u32 u16 u16 u32
madc.hi.cc.u32 %r1, %r2, %r3, %r4           | D U U U   | u32 u32 u32 u32
mapa.shared::cluster.u32 %r1, %r2, %r3      | D U U     | u32 u32 u32
match.all.sync.b64 %r1|%p1, %rd1, %r2       | D U U     | b32 b64 b32
mbarrier.init.shared.b64 [%r1], 32          | A U       | - u32 | b shared
mbarrier.arrive.shared.b64 %rd1, [%r1]      | D A       | b64 - | b shared
mbarrier.arrive.expect_tx.shared.b64 _, [%r1], %r2 | D A U | b64 - u32 | b shared
mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1 | D A U  | pred - b64 | b shared
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2, %r3 | D A U U | pred - u32 u32 | b shared
mbarrier.pending_count.b64 %r1, %rd1        | D U       | u32 b64
membar.gl                                   |           | | b
min.ftz.NaN.f32 %f1, %f2, %f3               | D U U     | f32 f32 f32
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8} | D U U U | f32 b32 b32 f32
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6} | D U U U | f64 f64 f64 f64
mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r5, %r6, %r7, %r8} | D U U U | s32 b32 b32 s32
mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r5, %r6}, %r9, 0 | D U U U U U | b32 b32 b32 b32 - -
mov.u32 %r1, %tid.x                         | D U       | u32 u32
mov.b64 {%r1, %r2}, %rd1                    | D U       | b64 b64
mov.b64 %rd1, {%r1, _}                      | D U       | b64 b64
movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2 | D U    | b32 b32
mul.wide.u32 %rd1, %r2, %r3                 | D U U     | u64 u32 u32
mul.hi.s64 %rd1, %rd2, %rd3                 | D U U     | s64 s64 s64
mul24.lo.u32 %r1, %r2, %r3                  | D U U     | u32 u32 u32
multimem.ld_reduce.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1] | D A | f32 - | r global
multimem.red.release.gpu.global.add.u32 [%rd1], %r1 | A U | - u32 | rwb global
nanosleep.u32 %r1                           | U         | u32
neg.bf16x2 %r1, %r2                         | D U       | bf16x2 bf16x2
not.pred %p1, %p2                           | D U       | pred pred
pmevent.mask 7                              | K         | -
popc.b64 %r1, %rd1                          | D U       | u32 b64
prefetch.global.L2 [%rd1]                   | A         | - | r global
prmt.b32.f4e %r1, %r2, %r3, %r4             | D U U U   | b32 b32 b32 b32
rcp.approx.ftz.f64 %fd1, %fd2               | D U       | f64 f64
red.global.add.f32 [%rd1], %f1              | A U       | - f32 | rw global
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r2, [%r3] | A U A | - u32 - | rw shared::cluster
redux.sync.add.s32 %r1, %r2, %r3            | D U U     | s32 s32 b32
ret.uni                                     |           |
sad.u16 %h1, %h2, %h3, %h4                  | D U U U   | u16 u16 u16 u16
selp.f64 %fd1, %fd2, %fd3, %p1              | D U U U   | f64 f64 f64 pred
set.lt.and.f32.s32 %f1, %r1, %r2, %p1       | D U U U   | f32 s32 s32 pred
setmaxnreg.dec.sync.aligned.u32 40          | K         | -
setp.lt.s32 %p1, %r1, %r2                   | D U U     | pred s32 s32
setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3     | D U U U   | pred s32 s32 pred
shf.l.wrap.b32 %r1, %r2, %r3, %r4           | D U U U   | b32 b32 b32 u32
shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1  | D U U U U | b32 b32 u32 u32 b32
shfl.bfly.b32 %r1, %r2, 1, 31               | D U U U   | b32 b32 u32 u32
shl.b64 %rd1, %rd2, %r1                     | D U U     | b64 b64 u32
shr.s16 %h1, %h2, 3                         | D U U     | s16 s16 u32
slct.u64.f32 %rd1, %rd2, %rd3, %f1          | D U U U   | u64 u64 u64 f32
sqrt.rn.f64 %fd1, %fd2                      | D U       | f64 f64
st.global.f32 [%rd1], %f1                   | A U       | - f32 | w global
st.u32.global [%rd1], %r1                   | A U       | - u32 | w global
st.shared.v2.b64 [%r1], {%rd1, %rd2}        | A U       | - b64 | w shared
st.param.b32 [param0], %r1                  | A U       | - b32 | w param
st.release.sys.u32 [%rd1], %r1              | A U       | - u32 | wb generic
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3] | A U A | - u32 - | w shared::cluster
st.bulk.weak.shared::cta [%r1], %rd1, 0     | A U K     | - - - | w shared
stackrestore.u64 %rd1                       | U         | u64 | b
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r1} | A U | - b32 | w shared
subc.s64 %rd1, %rd2, %rd3                   | D U U     | s64 s64 s64
suld.b.2d.v2.b32.trap {%r1, %r2}, [%rd1, {%r3, %r4}] | D A | b32 - | r generic
sust.b.2d.b64.trap [%rd1, {%r3, %r4}], {%rd2} | A U     | - b64 | w generic
sured.b.add.1d.u32.trap [%rd1, {%r3}], %r4  | A U       | - u32 | rw generic
szext.wrap.s32 %r1, %r2, %r3                | D U U     | s32 s32 u32
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3] | D A | b32 - | b tensor
tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r3], 4, {%r1} | A K U | - - b32 | b tensor
tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1 | A U U U U | - - b64 - - | b tensor
tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, %r2 | A K U | - - b32 | rw global
testp.finite.f64 %p1, %fd1                  | D U       | pred f64
tex.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1, %f2}] | D A | s32 - | r generic
tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f5, %f6}], %f7 | D A U | f32 - - | r generic
trap                                        |           |
txq.width.b32 %r1, [%rd1]                   | D A       | b32 -
vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1    | D U U     | s32 u32 s32
vote.sync.any.pred %p1, !%p2, -1            | D U U     | pred pred b32
vote.ballot.sync.b32 %r1, %p1, %r2          | D U U     | b32 pred b32
wgmma.wait_group.sync.aligned 0             | K         | - | b
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0 | X U U U K K K K | f32 - b64 pred - - - - | b
wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9 | D A U | b32 - u32 | r global
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f2} | D U U U | f32 b32 b32 f32
wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], {%f1} | A U | - f32 | w shared
xor.b64 %rd1, %rd2, -1                      | D U U     | b64 b64 b64
"""  # noqa: E501
ROWS = [row for row in EXPECTED.splitlines() if row]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split()[0])
def test_operands_and_effects_are_those_of_the_document(row):
    text, roles, types, *memory = [" ".join(part.split()) for part in row.replace("|%", "&%").split("|")]
    line = Line(text.replace("&%", "|%"))
    count = len(line.operands)
    effect, space, *_ = [*(memory[0].split() if memory else [""]), ""]
    op = opcode(line.opcode)
    assert [op.operand_type(i, count) or "-" for i in range(count)] == types.split()
    assert op.roles(count) == tuple(ROLES[letter] for letter in roles.split())
    assert op.effect == EFFECTS[effect]
    assert op.space == (space or None)
    assert op.is_known
    assert op.accepts(count)


def test_the_list_by_hand_is_as_long_as_it_should_be():
    assert len(ROWS) >= 150


def test_every_listed_instruction_is_known_with_that_many_operands():
    assert [line.text for line in listed() if not opcode(line.opcode).is_known] == []
    assert [line.text for line in listed() if not opcode(line.opcode).accepts(len(line.operands))] == []


def test_every_row_of_the_table_has_an_instruction_in_the_list():
    met = {find_row(op.base, set(op.modifiers)) for op in (opcode(line.opcode) for line in listed())}
    missing = {row.name for some in rows().values() for row in some if row not in met}
    assert missing == set()


def test_no_opcode_fits_two_rows_with_as_many_words():
    def best(line: Line) -> list[str]:
        op = opcode(line.opcode)
        fit = [row for row in rows()[op.base] if row.words <= set(op.modifiers)]
        return [row.name for row in fit if len(row.words) == max(len(each.words) for each in fit)]

    assert [found for found in map(best, listed()) if len(found) > 1] == []


def test_every_row_has_roles_for_every_number_of_operands_that_it_takes():
    for row in (row for some in rows().values() for row in some):
        conditions = {slot.condition for slot in parse_slots(row.operands)} - {None}
        for present in (set[str](), conditions):
            signed = signature(row.operands, present)
            assert signed.by_count
            assert all(len(signed.slots(n)) == n == len(signed.roles_by_count[n]) for n in signed.by_count)


def test_every_type_in_the_table_is_one():
    words = {"T", "T2", "T3", "W", "F", "A", "B", "C", "D", None, *type_bits()}
    slots = [s for some in rows().values() for row in some for s in parse_slots(row.operands)]
    assert {slot.type for slot in slots} | {slot.second for slot in slots} <= words


def test_there_are_at_least_as_many_instructions_as_promised():
    assert len(rows()) >= 110


def test_types_are_as_wide_as_the_registers_that_ptxas_takes():
    assert [found for line in listed() for found in misfits(line, WIDTHS)] == []


def test_a_type_of_another_width_is_noticed():
    for text, register, kind in (
        ("add.s32 %r1, %r2, %rd1", "%rd1", "s32"),
        ("mov.b64 {%r1, %h1}, %rd1", "%h1", "b64"),
        ("ld.u64 %r1, [%rd1]", "%r1", "u64"),
    ):
        assert misfits(Line(text), WIDTHS) == [f"{text}: {register} for {kind}"]


def test_where_a_pair_stands_its_second_part_is_a_predicate():
    pairs = [(line, i) for line in listed() for i, operand in enumerate(line.operands) if "|%p" in operand]
    assert {opcode(line.opcode).second_type(i, len(line.operands)) for line, i in pairs} == {"pred"}
    assert opcode("add.s32").second_type(0, 3) is None


def test_brackets_stand_where_the_table_has_addresses():
    for line in listed():
        roles = opcode(line.opcode).roles(len(line.operands))
        for operand, role in zip(line.operands, roles, strict=True):
            # Those of tcgen05.mma may be addresses or descriptors.
            assert operand.startswith("[") or role is not Role.ADDRESS
            assert not operand.startswith("[") or role is Role.ADDRESS or "tcgen05.mma" in line.text


def test_an_opcode_is_one_object_a_text():
    assert opcode("ld.global.nc.v4.f32") is opcode("ld.global.nc.v4.f32")
    op = opcode("st.shared.f32")
    assert pickle.loads(pickle.dumps(op)) is op
    assert copy.deepcopy(op) is op


def test_modifiers_are_kept_as_written_and_understood_in_any_order():
    op = opcode("st.v2.u32.global")
    assert (op.base, op.modifiers, op.types, op.vector) == ("st", ("v2", "u32", "global"), ("u32",), 2)
    assert opcode("cp.async.bulk.prefetch.L2.global").modifiers == (
        "async",
        "bulk",
        "prefetch",
        "L2",
        "global",
    )
    text = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    assert opcode(text).modifiers[-1] == "mbarrier::complete_tx::bytes"
    assert opcode("vote.sync.ballot.b32").roles(3) == opcode("vote.ballot.sync.b32").roles(3)
    assert opcode("mul.s32.wide").operand_type(0, 3) == "s64"


def test_a_copy_between_two_spaces_names_both():
    assert opcode("cp.async.ca.shared.global").spaces == ("shared", "global")
    assert opcode("cp.async.bulk.global.shared::cta.bulk_group").spaces == ("global", "shared")
    assert opcode("add.f32").spaces == ()


VOLATILE = """ld.volatile.global.u32 ld.relaxed.gpu.u32 ld.acquire.sys.u32 ld.mmio.relaxed.sys.global.u32
ld.global.cv.u32 st.global.wt.u32 st.release.gpu.u32 atom.global.add.u32 red.add.f32 bar.sync fence.sc.cta membar.gl
call.uni cp.async.ca.shared.global cp.async.wait_all mbarrier.try_wait.b64 activemask.b32 nanosleep.u32 discard.L2
griddepcontrol.wait stacksave.u64 setmaxnreg.inc.sync.aligned.u32 multimem.red.global.add.f32 clock_unknown.u32"""
MOVABLE = """ld.global.u32 ld.weak.global.u32 ld.global.nc.f32 ld.param.u64 ld.global.cg.f32 st.global.u32
ld.global.L1::evict_last.f32 add.s32 mov.u32 setp.lt.s32 tex.2d.v4.f32.f32 cvta.to.global.u64 createpolicy.cvt.L2.b64
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 mbarrier.pending_count.b64 isspacep.shared cvt.rn.f32.s32"""


def test_what_must_stay_where_it_is():
    assert [text for text in VOLATILE.split() if not opcode(text).is_volatile] == []
    assert [text for text in MOVABLE.split() if opcode(text).is_volatile] == []


CONVERGENT = """bar.sync barrier.cta.sync.aligned barrier.cluster.wait shfl.sync.idx.b32 shfl.idx.b32 vote.all.pred
match.any.sync.b32 activemask.b32 elect.sync redux.sync.add.u32 call ldmatrix.sync.aligned.m8n8.x1.shared.b16
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 wgmma.fence.sync.aligned
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
tcgen05.wait::ld.sync.aligned bar.warp.sync setmaxnreg.inc.sync.aligned.u32 unheard.of"""


def test_where_lanes_take_part_together():
    assert [text for text in CONVERGENT.split() if not opcode(text).is_convergent] == []
    others = (
        "add.s32 ld.global.u32 atom.add.u32 fence.sc.gpu mbarrier.arrive.shared.b64 tex.2d.v4.f32.f32 bra ret"
    )
    assert [text for text in others.split() if opcode(text).is_convergent] == []


def test_what_may_not_be_removed_for_want_of_a_reader():
    stay = """st.local.u32 atom.add.u32 red.add.u32 bar.sync call bra ret exit trap brkpt prefetch.L1 ld.volatile.u32
    shfl.sync.idx.b32 vote.sync.ballot.b32 elect.sync cp.async.commit_group mbarrier.arrive.b64 sust.b.1d.b32.trap
    pmevent nanosleep.u32 alloca.u64 unheard.of"""
    assert [text for text in stay.split() if not opcode(text).has_side_effects] == []
    go = """add.s32 ld.global.f32 mov.u32 setp.lt.s32 tex.2d.v4.f32.f32 mapa.u64 mul.wide.s32 add.cc.u32
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ldmatrix.sync.aligned.m8n8.x1.shared.b16 txq.width.b32"""
    assert [text for text in go.split() if opcode(text).has_side_effects] == []


def test_what_ends_a_block():
    ends = {op.base for op in (opcode(line.opcode) for line in listed()) if op.is_terminator}
    assert ends == {"bra", "brx", "ret", "exit", "trap"}


def test_the_carry_flag_is_read_and_written_by_the_extended_instructions_only():
    carries = {line.opcode for line in listed() if opcode(line.opcode).reads_carry}
    assert {text.split(".")[0] for text in carries} == {"addc", "subc", "madc"}
    writes = {line.opcode for line in listed() if opcode(line.opcode).writes_carry}
    assert writes == {line.opcode for line in listed() if ".cc" in line.opcode}
    assert {"add.cc.u32", "addc.cc.u32", "mad.lo.cc.u32"} <= writes


@pytest.mark.parametrize(
    ("text", "returns", "roles"),
    [
        ("f", False, "C"),
        ("f, (a)", False, "C U"),
        ("(r), f", True, "D C"),
        ("(r), f, (a)", True, "D C U"),
        ("%rd1, (a), p", False, "C U S"),
        ("(r), %rd1, (a), p", True, "D C U S"),
    ],
)
def test_the_parts_of_a_call(text, returns, roles):
    parts = split_operands(text)
    expected = tuple(ROLES[letter] for letter in roles.split())
    assert opcode("call.uni").roles(len(parts), returns=returns) == expected
    assert opcode("call").accepts(len(parts))
    # Without knowing what the first is, it may be anything.
    guessed = opcode("call.uni").roles(len(parts))
    assert guessed == expected or guessed[0] is Role.DEF_USE


@pytest.mark.parametrize("text", ["frobnicate.global.f32", "cp.frobnicate", "wgmma.frobnicate.sync.aligned"])
def test_an_unknown_instruction_may_do_anything(text):
    op = opcode(text)
    assert not op.is_known
    assert op.roles(3) == (Role.DEF_USE, Role.USE, Role.USE)
    assert op.roles(0) == ()
    assert op.effect == Effect.BARRIER
    assert op.is_volatile
    assert op.is_convergent
    assert op.has_side_effects
    assert op.reads_carry
    assert op.writes_carry
    assert op.operand_type(0, 3) is None
    assert (op.min_version, op.min_target, op.version_known) == ((1, 0), 0, False)


def test_a_number_of_operands_that_is_not_legal_is_taken_for_an_unknown_instruction():
    assert not opcode("add.s32").accepts(4)
    assert opcode("add.s32").roles(4) == (Role.DEF_USE, Role.USE, Role.USE, Role.USE)
    assert opcode("add.s32").operand_type(3, 4) is None


@pytest.mark.parametrize(
    ("text", "version", "target", "specific"),
    [
        ("add.s32", (1, 0), 0, False),
        ("ld.global.nc.f32", (3, 1), 32, False),
        ("shfl.sync.down.b32", (6, 0), 30, False),
        ("redux.sync.add.s32", (7, 0), 80, False),
        ("ld.shared::cluster.u32", (7, 8), 90, False),
        ("wgmma.fence.sync.aligned", (8, 0), 90, True),
        ("ld.global.v8.f32", (8, 8), 100, False),
        ("tcgen05.fence::after_thread_sync", (8, 6), 100, True),
        ("atom.global.add.noftz.bf16x2", (7, 8), 90, False),
    ],
)
def test_an_instruction_knows_the_version_and_the_target_it_needs(text, version, target, specific):
    op = opcode(text)
    assert (op.min_version, op.min_target, op.arch_specific) == (version, target, specific)
    assert op.version_known


def test_bits_of_types():
    assert [bits(kind) for kind in ("pred", "u8", "f16", "f16x2", "f32x2", "b128")] == [1, 8, 16, 32, 64, 128]


@pytest.mark.parametrize("text", ["Def T", "use b32 if", "def T||T", "use b32 unless x", "use T T"])
def test_a_row_that_is_not_in_the_language_is_an_error(text):
    with pytest.raises(ValueError):
        parse_slots(text)


def test_what_is_optional_is_there_from_the_left():
    signed = signature("def T, use? u32, use pred", set())
    assert [slot.type for slot in signed.slots(2)] == ["T", "pred"]
    assert [slot.type for slot in signed.slots(3)] == ["T", "u32", "pred"]
    assert signed.slots(4) == ()


def test_importing_reads_no_file():
    program = """
import sys
from comprehensive.ptx import opcodes, special_registers
assert opcodes.opcode.cache_info().currsize == 0
from comprehensive.ptx import opcode_table
assert opcode_table.rows.cache_info().currsize == opcode_table.type_bits.cache_info().currsize == 0
"""
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True)
