"""Plans written by hand: a stencil with two leaves and a dead end, and a copy, with kernels as text.

void smooth(int n, const float *a, float *b, int B, int s)      two leaves, a tile of s*B + 2 words or none
void copy2(int m, int n, const float *a, float *c, int B)       one leaf, two dimensions, strides as arguments
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from comprehensive.algebra import Polynomial, System, at_least, at_most, less
from comprehensive.diagnostics import SourceFile, Span
from comprehensive.kernel_ir.kernel import Kernel, KernelParameter, Source
from comprehensive.loops.ir import Array, Loop, Nest, Role, Scalar, Threads
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Expr,
    Function,
    HostAssert,
    Index,
    IntLiteral,
    MetaSchedule,
    Name,
    Parameter,
    ScalarType,
)
from comprehensive.plan.plan import FunctionPlan, LeafPlan, ProgramPlan, RegionPlan
from comprehensive.records import replace

INT, LONG, FLOAT = ScalarType.INT, ScalarType.LONG, ScalarType.FLOAT
SYMBOLS = {name: Polynomial.symbol(name) for name in ("n", "m", "B", "s", "Z_B", "T_B", "R_B")}

SMOOTH = """\
#define UNUSED_BY_KERNELS 1

/* Three-point average. */
static void smooth(int n, const float *a, float *b, int B, int s)
{
  assert(B <= 1024 && "too many threads");
  int dim = (n - 2 + s*B - 1) / (s*B);
  if (n < 3)
    return; /* nothing inside */

  for (int t = 0; t < UNUSED_BY_KERNELS; t++)
    meta_schedule cache(a) { REGION }
}
"""

COPY2 = """\
void copy2(int m, int n, const float *a, float *c, int B)
{
  meta_schedule { REGION }
}
"""

TILED = """\
extern "C" __global__ void smooth_tiled(const float *a, float *b, int n, int B, int s)
{
  CF_SHARED(cf_shared);
  float *const tile = (float *)cf_shared;
  const int base = blockIdx.x * s * B;
  for (int x = threadIdx.x; x < s * B + 2; x += B)
    if (base + x < n) tile[x] = a[base + x];
  __syncthreads();
  for (int k = 0; k < s; k++) {
    const int x = k * B + threadIdx.x;
    if (base + x + 2 < n) b[base + x + 1] = (tile[x] + tile[x + 1] + tile[x + 2]) / 3;
  }
}
"""

PLAIN = """\
extern "C" __global__ void smooth_plain(const float *a, float *b, int n, int B, int s)
{
  const int base = blockIdx.x * s * B;
  for (int k = 0; k < s; k++) {
    const int x = base + k * B + threadIdx.x;
    if (x + 2 < n) b[x + 1] = (a[x] + a[x + 1] + a[x + 2]) / 3;
  }
}
"""

COPY_KERNEL = """\
extern "C" __global__ void copy2_leaf1(const float *a, long a_stride0, float *c, int rows, int m, int n, int B)
{
  const int j = blockIdx.x * B + threadIdx.x;
  for (int i = blockIdx.y; i < rows; i += gridDim.y)
    if (i < m && j < n) c[i * a_stride0 + j] = a[i * a_stride0 + j];
}
"""


def mul(left: Expr, right: Expr) -> Expr:
    return Binary("*", left, right)


def ceiling(top: Expr, bottom: Expr) -> Expr:
    """(top + bottom - 1) / bottom"""
    return Binary("/", Binary("-", Binary("+", top, bottom), IntLiteral(1)), bottom)


N, M, B, S = Name("n"), Name("m"), Name("B"), Name("s")
DIM = ceiling(Binary("-", N, IntLiteral(2)), mul(S, B))


def span(file: SourceFile, text: str) -> Span:
    start = file.text.index(text)
    return Span(file, start, start + len(text))


def smooth_nest() -> Nest:
    read = Index("a", (Name("u"),))
    return Nest(
        name="smooth",
        scalars=(
            Scalar("n", INT, Role.SCALAR),
            Scalar("B", INT, Role.PROGRAM),
            Scalar("s", INT, Role.PROGRAM),
            Scalar("dim", INT, Role.HOST, DIM),
        ),
        arrays=(Array("a", FLOAT, None, const=True), Array("b", FLOAT, None)),
        preconditions=(Binary("<=", B, IntLiteral(1024)),),
        grid=(Loop("v", Name("dim")),),
        body=(Threads((Loop("u", B),), (Assign(Index("b", (Name("u"),)), "=", read),)),),
    )


def smooth_kernel(name: str, words: Polynomial) -> Kernel:
    return Kernel(
        name=name,
        parameters=(
            KernelParameter("a", FLOAT, Source.ARRAY, "a", pointer=True, const=True),
            KernelParameter("b", FLOAT, Source.ARRAY, "b", pointer=True),
            KernelParameter("n", INT, Source.SCALAR, "n"),
            KernelParameter("B", INT, Source.SCALAR, "B"),
            KernelParameter("s", INT, Source.SCALAR, "s"),
        ),
        grid=(("v", Name("dim")),),
        block=(B,),
        shared_words=words,
        order=(),
        body=(),
    )


def smooth_systems() -> tuple[System, System, System]:
    """Tiled, plain, dead end: they cover everything and exclude each other."""
    b, s, z, t, n = (SYMBOLS[name] for name in ("B", "s", "Z_B", "T_B", "n"))
    base = System((at_least(b, 1), at_least(s, 1), at_least(n, 0)))
    fits, tile = at_most(b, t), s * b + 2
    return base.add(fits, at_most(tile, z)), base.add(fits, less(z, tile)), base.add(less(t, b))


def smooth_function() -> Function:
    file = SourceFile("smooth.mf", SMOOTH)
    body = Span(file, SMOOTH.index("{") + 1, SMOOTH.rindex("}"))
    region = span(file, "meta_schedule cache(a) { REGION }")
    check = span(file, 'assert(B <= 1024 && "too many threads");')
    return Function(
        "smooth",
        (
            Parameter("n", INT),
            Parameter("a", FLOAT, const=True, pointer=True),
            Parameter("b", FLOAT, pointer=True),
            Parameter("B", INT),
            Parameter("s", INT),
        ),
        (
            Span(file, body.start, check.start),
            HostAssert(Binary("<=", B, IntLiteral(1024)), check),
            Span(file, check.end, region.start),
            MetaSchedule(("a",), (), span=region),
            Span(file, region.end, body.end),
        ),
        span=Span(file, SMOOTH.index("static"), SMOOTH.rindex("}") + 1),
        body_span=body,
    )


def smooth_plan() -> ProgramPlan:
    nest = smooth_nest()
    tiled, plain, dead_end = smooth_systems()
    words = SYMBOLS["s"] * SYMBOLS["B"] + 2
    leaves = (
        LeafPlan(1, smooth_kernel("smooth_tiled", words), nest, tiled, ("caching: a in shared memory",)),
        LeafPlan(2, smooth_kernel("smooth_plain", Polynomial(0)), nest, plain, ()),
    )
    region = RegionPlan("smooth", nest, leaves, (dead_end,))
    return ProgramPlan(
        "smooth", "smooth.mf", "5eed" * 16, (FunctionPlan(smooth_function(), (region,)),), single_file=True
    )


def copy_plan() -> ProgramPlan:
    file = SourceFile("copy2.mf", COPY2)
    body = Span(file, COPY2.index("{") + 1, COPY2.rindex("}"))
    region = span(file, "meta_schedule { REGION }")
    write = Assign(Index("c", (Name("i"), Name("u"))), "=", Index("a", (Name("i"), Name("u"))))
    nest = Nest(
        name="copy2",
        scalars=(Scalar("m", INT, Role.DATA), Scalar("n", INT, Role.DATA), Scalar("B", INT, Role.PROGRAM)),
        arrays=(Array("a", FLOAT, (M, N)), Array("c", FLOAT, (M, N))),
        preconditions=(),
        grid=(Loop("i", M), Loop("v", ceiling(N, B))),
        body=(Threads((Loop("u", B),), (write,)),),
    )
    kernel = Kernel(
        name="copy2_leaf1",
        parameters=(
            KernelParameter("a", FLOAT, Source.ARRAY, "a", pointer=True, const=True),
            KernelParameter("a_stride0", LONG, Source.STRIDE, "a", 0),
            KernelParameter("c", FLOAT, Source.ARRAY, "c", pointer=True),
            KernelParameter("rows", INT, Source.EXTENT, "i"),
            KernelParameter("m", INT, Source.SCALAR, "m"),
            KernelParameter("n", INT, Source.SCALAR, "n"),
            KernelParameter("B", INT, Source.SCALAR, "B"),
        ),
        grid=(("i", M), ("v", ceiling(N, B))),
        block=(B,),
        shared_words=Polynomial(0),
        order=(),
        body=(),
    )
    function = Function(
        "copy2",
        (
            Parameter("m", INT),
            Parameter("n", INT),
            Parameter("a", FLOAT, dims=(M, N)),
            Parameter("c", FLOAT, dims=(M, N)),
            Parameter("B", INT),
        ),
        (
            Span(file, body.start, region.start),
            MetaSchedule(None, (), span=region),
            Span(file, region.end, body.end),
        ),
        span=Span(file, 0, len(COPY2) - 1),
        body_span=body,
    )
    system = System((at_least(SYMBOLS["B"], 1),), (at_most(SYMBOLS["B"], SYMBOLS["T_B"]),))
    region_plan = RegionPlan("copy2", nest, (LeafPlan(1, kernel, nest, system, ()),), ())
    return ProgramPlan(
        "copy2", "copy2.mf", "c0de" * 16, (FunctionPlan(function, (region_plan,)),), single_file=True
    )


KERNELS: Mapping[str, str] = {"smooth_tiled": TILED, "smooth_plain": PLAIN, "copy2_leaf1": COPY_KERNEL}


def with_kernel(name: str, pattern: str, replacement: str) -> dict[str, str]:
    """The kernels with one text changed: a fault put in on purpose."""
    changed, count = re.subn(pattern, replacement, KERNELS[name])
    assert count == 1
    return {**KERNELS, name: changed}


def with_systems(plan: ProgramPlan, systems: tuple[System, ...]) -> ProgramPlan:
    """The plan of one region with a leaf a system, all with the kernel of the first, and no dead ends."""
    function = plan.functions[0]
    region = function.regions[0]
    leaves = tuple(replace(region.leaves[0], index=k + 1, system=system) for k, system in enumerate(systems))
    changed = replace(region, leaves=leaves, dead_ends=())
    return replace(plan, functions=(replace(function, regions=(changed,)),))
