"""Structures whose members have one type: the arrays that they become, and what programs with them compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive import verification
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.metafork.printer import print_stmts
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.unit.metafork.trees import parse_text

TYPES = """typedef float real;
#define DIM 3
typedef struct { float x, y, z; } vec;
struct particle { vec at; real v[DIM]; float m; };
typedef struct particle particle;
typedef struct { float v[010], x; } eight;
static inline float dot(vec a, const vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec plus(vec a, vec b) { vec c = a; c.x += b.x; if (a.y > 9) return b; return c; }
static inline vec middle(const particle *p, int i) { return p[i].at; }
static inline vec turned(vec a) { return (vec){a.y, -a.x, a.z}; }
static inline float last(const float *v) { return v[2]; }
static inline float heavy(particle p) { return p.v[99]; }
static inline float mass(const particle *p, int i) { return p[i].m; }
"""
HEAD = "void f(int n, int k, particle *p, struct particle const *o, vec q[n], vec g[n][k], float *y)\n"

USES = {
    "g[i][k - 1].y += q[i].x;": "g[i][k - 1][1] += q[i][0];",
    "g[i][0] = q[i];": "{ g[i][0][0] = q[i][0]; g[i][0][1] = q[i][1]; g[i][0][2] = q[i][2]; }",
    "vec *r = &g[i][k - 1]; r->x = g[i]->y + r[-1].z;": (
        "long r_row = i, r = k - 1; g[r_row][r][0] = g[i][0][1] + g[r_row][r + -1][2];"
    ),
    "vec *r = g[i], *s = r + 2, *t = g[k] + 1; r++; r->x = s->y - t->z; y[i] = s - r;": (
        "long r_row = i, r = 0; long s = r + 2; long t_row = k, t = 1; r++;"
        "g[r_row][r][0] = g[r_row][s][1] - g[t_row][t][2]; y[i] = s - r;"
    ),
    "vec m[2][3]; m[1][k].z = 0; y[i] = m[0][2].x;": "float m[2][3][3]; m[1][k][2] = 0; y[i] = m[0][2][0];",
    "y[i] = p[i].m;": "y[i] = p[i][6];",
    "y[i] = o[i + 1].at.y;": "y[i] = o[i + 1][1];",
    "p[i].v[k] += q[i].z;": "p[i][3 + k] += q[i][2];",
    "p[i].v[2] = p->m + (*p).at.x + (p + k)->m + (&p[k])->at.z + (p[i]).m;": (
        "p[i][5] = p[0][6] + p[0][0] + p[k][6] + p[k][2] + p[i][6];"
    ),
    "y[i] = p[(int)p[i].m].at.x;": "y[i] = p[(int)p[i][6]][0];",
    "vec u = q[i], w; w = u; y[i] = w.y;": (
        "float u_x = q[i][0], u_y = q[i][1], u_z = q[i][2]; float w_x, w_y, w_z;"
        "{ w_x = u_x; w_y = u_y; w_z = u_z; } y[i] = w_y;"
    ),
    "const vec u = {.z = 1, .x = 2}; y[i] = dot(u, p[i].at);": (
        "float u_x = 2, u_y = 0, u_z = 1; y[i] = u_x * p[i][0] + u_y * p[i][1] + u_z * p[i][2];"
    ),
    "vec u = q[i]; u = (vec){u.y, u.x, 1}; y[i] = u.x;": (
        "float u_x = q[i][0], u_y = q[i][1], u_z = q[i][2];"
        "{ float next_u = u_y, next_u_1 = u_x, next_u_2 = 1; u_x = next_u; u_y = next_u_1; u_z = next_u_2; }"
        "y[i] = u_x;"
    ),
    "p[i].at = q[i];": "{ p[i][0] = q[i][0]; p[i][1] = q[i][1]; p[i][2] = q[i][2]; }",
    "particle u = *o; y[i] = u.v[k];": (
        "float u[7] = {o[0][0], o[0][1], o[0][2], o[0][3], o[0][4], o[0][5], o[0][6]}; y[i] = u[3 + k];"
    ),
    "particle u = {{1, 2}, {3, 4, 5}, 6}; y[i] = u.m;": "float u[7] = {1, 2, 0, 3, 4, 5, 6}; y[i] = u[6];",
    "const particle *r = &o[i]; y[i] = r->m + r[1].m;": "long r = i; y[i] = o[r][6] + o[r + 1][6];",
    "particle *r = p + k, *s = &r[2]; s->m = 1;": "long r = k; long s = r + 2; p[s][6] = 1;",
    "const particle *r = o, *e = &o[k]; for (; r < e; r++) y[i] += r->m;": (
        "long r = 0; long e = k; for (; r < e; r++) y[i] += o[r][6];"
    ),
    "const particle *r = &o[i]; y[i] = mass(r, 1);": "long r = i; y[i] = o[r + 1][6];",
    "const particle *r = &o[i]; y[i] = mass(&r[k], 1) + mass(&o[i], 0);": (
        "long r = i; y[i] = o[r + k + 1][6] + o[i + 0][6];"
    ),
    "p[i].v[01] += p[i].v[0x2];": "p[i][4] += p[i][5];",
    "eight u = {.x = 1}; y[i] = u.v[07] + u.x;": (
        "float u[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1}; y[i] = u[7] + u[8];"
    ),
    "y[i] = mass(o, i);": "y[i] = o[i][6];",
    "p[i].at = turned(q[k]);": "{ p[i][0] = q[k][1]; p[i][1] = -q[k][0]; p[i][2] = q[k][2]; }",
    "y[i] = turned(turned(o[i].at)).y;": "y[i] = -o[i][1];",
    "vec u = middle(o, i); u = turned(u); y[i] = dot(u, middle(o, k));": (
        "float u_x = o[i][0], u_y = o[i][1], u_z = o[i][2];"
        "{ float next_u = u_y, next_u_1 = -u_x, next_u_2 = u_z; u_x = next_u; u_y = next_u_1; u_z = next_u_2; }"
        "y[i] = u_x * o[k][0] + u_y * o[k][1] + u_z * o[k][2];"
    ),
    "vec *r = q + k; r[1] = turned(q[i]);": (
        "long r = k; { float next_r = q[i][1], next_r_1 = -q[i][0], next_r_2 = q[i][2];"
        "q[r + 1][0] = next_r; q[r + 1][1] = next_r_1; q[r + 1][2] = next_r_2; }"
    ),
    "y[i] = last(o[i].v); const float *v = p[k].v; y[i] += v[1];": "y[i] = o[i][3 + 2]; y[i] += p[k][3 + 1];",
    "vec u[2]; u[0] = q[i]; u[1].x = 1; y[i] = u[k].x;": (
        "float u[2][3]; { u[0][0] = q[i][0]; u[0][1] = q[i][1]; u[0][2] = q[i][2]; } u[1][0] = 1;"
        "y[i] = u[k][0];"
    ),
    "int vec = 1; y[i] = vec;": "int vec = 1; y[i] = vec;",
}

REFUSED = {
    "const vec *r = &g[i]; y[i] = r->x;": "CF0114",
    "y[i] = g->x;": "CF0114",
    "y[i] = g[i].x;": "CF0114",
    "y[i] = p[i].w;": "CF0114",
    "y[i] = p[i];": "CF0204",
    "vec u = p[i]; y[i] = u.x;": "CF0117",
    "y[i] = p[i].v;": "CF0204",
    "y[i] = p[i].v + 1;": "CF0204",
    "p[i].at = q[k++];": "CF0114",
    "y[i] = heavy(p[i]);": "CF0114",
    "q[i] = turned(q[k++]);": "CF0204",
    "q[i] = plus(q[k], p[i]);": "CF0214",
    "vec u = {.w = 1};": "CF0117",
    "const particle *r = &o[i]; if (r) y[i] = r->m;": "CF0205",
    "const particle *r = &o[i], *s = &p[i]; if (r == s) y[i] = r->m;": "CF0205",
    "const particle *r = &o[i], *s = &p[i]; r = s; y[i] = r->m;": "CF0121",
}

PROGRAM = (
    "#include <math.h>\n"
    + TYPES
    + """
void step(int n, float dt, particle *p, const particle *old, float *e, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      struct particle q = old[i];
      const particle *r = &old[i];
      vec u = {q.v[0], q.v[1], q.v[2]}, w = {.z = 1.0f, .x = r->m};
      for (int d = 0; d < DIM; d++) q.v[d] *= 0.5f;
      q.at.x += dt * u.x; q.at.y += dt * u.y; q.at.z += dt * u.z;
      e[i] = dot(u, q.at) + dot(w, old[i].at) * mass(old, i) + last(old[i].v);
      q.at = (vec){q.at.y, q.at.x, q.at.z};
      q.at = plus(turned(q.at), plus(w, middle(old, i)));
      if (q.m > 0) p[i] = q; else { p[i] = old[i]; p[i].at = u; }
    }
  }
}
void bodies(int n, const vec p[n], vec *f, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      vec a = {0};
      for (int j = 0; j < n; j++) {
        vec q = p[j];
        float r = 1.0f / sqrtf(dot(q, q) + 1.0f);
        a.x += r * (q.x - p[i].x); a.y += r * (q.y - p[i].y); a.z += r * (q.z - p[i].z);
      }
      f[i] = a;
    }
  }
}
"""
)


HALVES = """typedef struct { half re, im; } number;
void f(int n, number *a, const number *b, int B)
{
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) a[i].re += a[i].im * b[i].re; }
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) { number c = b[i]; a[i].im = c.im; } }
}
"""


def one_line(text: str) -> str:
    return "".join(text.replace("  ", "").split())


@pytest.mark.parametrize("use", USES)
def test_a_structure_is_an_array_of_its_elements(use: str) -> None:
    def printed(head: str, body: str) -> str:
        region = f"meta_schedule block(8) {{ meta_for (int i = 0; i < n; i++) {{ {body} }} }}"
        program, sink = parse_text(f"{head}{{ {region} }}\n")
        assert not sink.has_errors, sink.diagnostics
        return print_stmts(program.functions[0].regions[0].body)

    as_arrays = (
        "void f(int n, int k, float p[][7], float const o[][7], float q[n][3], float g[n][k][3], float *y)\n"
    )
    assert one_line(printed(TYPES + HEAD, use)) == one_line(printed(as_arrays, USES[use]))


@pytest.mark.parametrize("use", REFUSED)
def test_what_is_no_use_of_a_structure_is_an_error(use: str) -> None:
    region = f"meta_schedule block(8) {{ meta_for (int i = 0; i < n; i++) {{ {use} }} }}"
    _, sink = parse_text(f"{TYPES}{HEAD}{{ {region} }}\n")
    assert REFUSED[use] in {d.code for d in sink.diagnostics}, sink.diagnostics


@pytest.mark.parametrize(
    "definition",
    [
        "typedef struct { float x; int id; } body;",
        "struct part { float x; }; typedef struct { struct part p; int id; } body;",
        "typedef struct { float x; double id; } body;",
    ],
)
def test_the_member_that_has_another_type_is_named(definition: str) -> None:
    region = "meta_schedule block(8) { meta_for (int i = 0; i < n; i++) y[i] = p[i].x; }"
    _, sink = parse_text(f"{definition}\nvoid f(int n, const body *p, float *y)\n{{ {region} }}\n")
    (found,) = [d for d in sink.diagnostics if d.code == "CF0117"]
    (note,) = found.notes
    assert note.span is not None
    assert note.span.start == definition.rindex("id;") - len(note.span.text) - 1


@pytest.mark.parametrize(
    "definition",
    [
        "typedef struct { float x; } __attribute__((aligned(16))) body;",
        "struct body { float x; } __attribute__((aligned(16))); typedef struct body body;",
        "typedef union { float x; float id; } body;",
        "typedef struct { int x : 3; } body;",
        "typedef struct { float *x; } body;",
    ],
)
def test_structures_that_may_lie_otherwise_are_none_of_the_language(definition: str) -> None:
    region = "meta_schedule block(8) { meta_for (int i = 0; i < n; i++) y[i] = p[i].x; }"
    _, sink = parse_text(f"{definition}\nvoid f(int n, const body *p, float *y)\n{{ {region} }}\n")
    assert "CF0117" in {d.code for d in sink.diagnostics}


def test_programs_compute_what_the_serial_c_does(tmp_path: Path) -> None:
    if find_c_compiler() is None or find_cxx_compiler() is None:
        pytest.skip("no C or no C++ compiler on this machine")
    path = tmp_path / "f.mf"
    path.write_text(PROGRAM, encoding="utf-8")
    compilation = compile_file(path, Options(registers="estimate"))
    _, bodies = compilation.plan.functions
    assert "rows" in {tiling.recipe for tiling in bodies.regions[0].tilings}
    texts = outputs(compilation)
    header = texts["f.h"]
    assert "step_launch(int n, float dt, float *p, const float *old, float *e" in header
    assert verification.verify(compilation, points=6, run=True).holds
    # A leaf is a program, too, over arrays.
    leaf = next(text for name, text in texts.items() if name.startswith("f.step") and name.endswith(".mf"))
    assert "void step(int n, float dt, float p[][7], const float old[][7], float *e, int B)" in leaf
    program, sink = parse_text(leaf)
    assert not sink.has_errors, sink.diagnostics
    assert [p.dims for p in program.functions[0].parameters] == [
        p.dims for p in compilation.program.functions[0].parameters
    ]


def test_structures_of_halves_convert(tmp_path: Path) -> None:
    if find_c_compiler() is None or find_cxx_compiler() is None:
        pytest.skip("no C or no C++ compiler on this machine")
    path = tmp_path / "f.mf"
    path.write_text(HALVES, encoding="utf-8")
    compilation = compile_file(path, Options(registers="estimate"))
    assert verification.verify(compilation, points=4, run=True).holds
