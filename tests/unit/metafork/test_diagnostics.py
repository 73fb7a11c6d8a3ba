"""Every diagnostic of the front end, with the place it points at: the character after the sign § in the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import comprehensive.metafork
from comprehensive.diagnostics import render
from tests.unit.metafork.trees import parse_text

HEAD = "void f(int n, int B, float r, float a[n][n], const float b[n], float *c)\n{\n  int d = n / B;\n"
NEST = "meta_for (int i = 0; i < d; i++)\n    meta_for (int u = 0; u < B; u++) "


REGION = "meta_schedule { meta_for (int i = 0; i < n; i++) meta_for (int u = 0; u < 8; u++) c[i*8+u] = 1; }"


def in_threads(text: str) -> str:
    """A function whose thread loops run ``text``."""
    return f"{HEAD}  meta_schedule {{\n    {NEST}{{\n{text}\n    }}\n  }}\n}}\n"


def in_region(text: str) -> str:
    """A function whose region is ``text``."""
    return f"{HEAD}  meta_schedule {{\n{text}\n  }}\n}}\n"


def in_host(text: str) -> str:
    """A function with ``text`` before its region."""
    return f"{HEAD}{text}\n  meta_schedule {{\n    {NEST}c[i * B + u] = 1;\n  }}\n}}\n"


OK = f"{NEST}c[i * B + u] = 1;"


def with_parameters(parameters: str) -> str:
    return f"void f({parameters}) {{ meta_schedule {{ {OK} }} }}"


CASES: dict[str, tuple[str, str]] = {
    "no region": ("CF0104", "int f(void) { return 0; }\n/* meta_schedule */"),
    "region switched off": ("CF0104", "#if 0\nvoid f(int n) { §meta_schedule { } }\n#endif\n"),
    "comment not closed": ("CF0105", "int x;\n§/* meta_schedule { "),
    "comment not closed in a directive": ("CF0105", "#define A §/* meta_schedule { "),
    "string not closed": ("CF0106", in_threads('c[0] = §"abc;')),
    "character not closed": ("CF0106", in_threads("c[0] = §'a;")),
    "function not closed": ("CF0107", f"void f(int n, int d, int B, int *c) §{{ meta_schedule {{ {OK} }}"),
    "deep parentheses": (
        "CF0108",
        in_threads("c[0] = " + "(" * 199 + "§" + "(" * 97 + "1" + ")" * 296 + ";"),
    ),
    "deep sum": ("CF0108", in_threads("c[0] = " + "r+" * 204 + "§" + "r+" * 196 + "r;")),
    "missing operand": ("CF0110", in_threads("c[0] = 1 + §;")),
    "stray parenthesis": ("CF0110", in_threads("§) c[0] = 1;")),
    "no braces": ("CF0110", "void f(int n) { §meta_schedule x = 1; }"),
    "empty cache clause": ("CF0110", f"{HEAD} meta_schedule §cache() {{ {OK} }} }}"),
    "cache of an expression": ("CF0110", f"{HEAD} meta_schedule §cache(a + c) {{ {OK} }} }}"),
    "missing semicolon": ("CF0111", in_threads("c[0] = 1§\nc[1] = 2;")),
    "missing semicolon at the end": ("CF0111", in_threads("c[0] = 1§")),
    "goto": ("CF0112", in_threads("§goto end;")),
    "return": ("CF0112", in_threads("if (r) §return;")),
    "case that is no constant": ("CF0112", in_threads("switch (n) { case §r: c[0] = 1; }")),
    "case outside of a switch": ("CF0112", in_threads("§case 1: c[0] = 1;")),
    "case in another statement": (
        "CF0112",
        in_threads("switch (n) { case 0: if (n) { §case 1: c[0] = 1; } }"),
    ),
    "local pointer to nowhere": ("CF0113", in_threads("§int *p; p[0] = 1;")),
    "local pointer to a number": ("CF0113", in_threads("§int *p = 0; c[0] = 1;")),
    "local pointer to another type": ("CF0113", in_threads("§int *p = c; p[0] = 1;")),
    "local pointer to another array": ("CF0113", in_threads("float *p = c; §p = a[u]; c[0] = 1;")),
    "loop of a pointer to another array": (
        "CF0113",
        in_threads("float *p = c; §for (p = c; p < a[u]; p++) c[0] = 1;"),
    ),
    "local pointer that is declared again": ("CF0113", in_threads("§float *p = c; int p = 0; c[0] = p;")),
    "pointer in a cast": ("CF0113", in_threads("c[0] = (int §*)r;")),
    "dereference": ("CF0113", in_threads("c[0] = §*(1 + r);")),
    "address": ("CF0113", in_threads("c[0] = §&r;")),
    "member": ("CF0114", in_threads("c[0] = s§.x;")),
    "member of a pointer": ("CF0114", in_threads("c[0] = s§->x;")),
    "structure": ("CF0114", in_threads("§struct s { int x; };")),
    "comma": ("CF0120", in_threads("c[0] = 1, 2§;")),
    "assignment in a choice": ("CF0116", in_threads("int k = 0; c[0] = 1 + (n > 1 ? (k §= 3) : 2);")),
    "step of data in a condition": ("CF0116", in_threads("if (c[0]§++ > 1) c[0] = 2;")),
    "long double type": ("CF0117", in_threads("§long double k = 0;")),
    "cast to another type": ("CF0117", in_threads("c[0] = (§short float)r;")),
    "a name of no type": ("CF0117", in_threads("§count_t k = 0;")),
    "no type": ("CF0117", in_threads("§const k = 0;")),
    "pragma": ("CF0118", in_threads("§#pragma unroll\nc[i * B + u] = 1;")),
    "string": ("CF0119", in_threads('printf(§"hello");')),
    "character": ("CF0123", in_threads("c[0] = §'ab';")),
    "call without effect": ("CF0120", in_threads("sqrtf(r)§;")),
    "a value cast to void": ("CF0120", in_threads("c[0] = §(void)n + 1;")),
    "a call cast to void": ("CF0120", in_threads("(void)sqrtf(r)§;")),
    "a variable of type void": ("CF0117", in_threads("§void k;")),
    "a null pointer of host code": (
        "CF0205",
        in_host("  const float *p = b + n;").replace("= 1", "= §p ? p[0] : 0"),
    ),
    "an array of host code that is null": (
        "CF0205",
        in_host("  float p[8];").replace("= 1", "= §NULL != p"),
    ),
    "expression without effect": ("CF0120", in_threads("r + 1§;")),
    "assignment to a sum": ("CF0121", in_threads("§n + 1 = 2;")),
    "two iterators": ("CF0122", in_region("meta_for (§int i = 0, j = d; i < d; i++, j--) c[0] = 1;")),
    "two steps": ("CF0122", in_region("meta_for (§int i = 0; i < d; i++, d--) c[0] = 1;")),
    "step in the condition of a loop": ("CF0122", in_region("meta_for (int i = d; i§-- > 0; i--) c[0] = 1;")),
    "header without a step": ("CF0122", in_region("meta_for (§int i = 0; i < d;) c[0] = 1;")),
    "condition on another name": ("CF0122", in_region("meta_for (int i = 0; §d < 4; i++) c[0] = 1;")),
    "condition of two parts": ("CF0122", in_region("meta_for (int i = 0; §i < d && i < B; i++) c[0] = 1;")),
    "step by a factor": ("CF0122", in_region("meta_for (int i = 1; i < d; §i *= 2) c[0] = 1;")),
    "meta_for without a type": ("CF0122", in_region("meta_for (§i = 0; i < d; i++) c[0] = 1;")),
    "no octal number": ("CF0123", in_threads("c[0] = §08;")),
    "too large a number": ("CF0123", in_threads("c[0] = §9223372036854775808;")),
    "large number": ("CF0123", in_threads("c[0] = §18446744073709551616u;")),
    "strange number": ("CF0123", in_threads("c[0] = §1abc;")),
    "long double": ("CF0123", in_threads("c[0] = §1.0L;")),
    "sizeof data": ("CF0124", in_threads("c[0] = §sizeof(c);")),
    "initialiser list": ("CF0124", in_threads("c[0] = §{1, 2};")),
    "static local": ("CF0125", in_threads("§static int k = 0;")),
    "declaration as body": ("CF0126", in_threads("if (r) §int k = 1;")),
    "no sign of C": ("CF0127", in_threads("c[0] = 1 §@ 2;")),
    "undeclared scalar": ("CF0201", in_threads("c[0] = §x;")),
    "undeclared in a dimension": (
        "CF0201",
        with_parameters("int d, int B, float c[§m]"),
    ),
    "name out of scope": ("CF0201", in_threads("{ int k = 1; } c[0] = §k;")),
    "unknown function": ("CF0202", in_threads("c[0] = §foo(r);")),
    "assert in a region": ("CF0202", in_threads("c[0] = §assert(r);")),
    "undeclared array": ("CF0203", in_threads("§x[0] = 1;")),
    "too few subscripts": ("CF0204", in_threads("c[0] = §a[0];")),
    "too many subscripts": ("CF0204", in_threads("c[0] = §b[0][1];")),
    "array without subscripts": ("CF0205", in_threads("c[0] = §b + 1;")),
    "subscripted scalar": ("CF0206", in_threads("c[0] = §r[0];")),
    "changed iterator of a meta_for": ("CF0207", in_threads("§u += 1;")),
    "iterator used twice": ("CF0207", in_threads("§for (u = 0; u < n; u++) c[u] = 1;")),
    "changed parameter": ("CF0208", in_threads("§n -= 1;")),
    "changed host scalar": ("CF0208", in_threads("§d = 1;")),
    "changed const array": ("CF0209", in_threads("§b[0] = 1;")),
    "changed const local": ("CF0209", in_threads("const int k = 1; §k = 2;")),
    "declared twice": ("CF0210", in_threads("int k = 1; §int k = 2;")),
    "parameters of one name": (
        "CF0210",
        with_parameters("int B, int d, §int d, float *c"),
    ),
    "hidden array": ("CF0211", in_threads("for (int k = 0; k < n; k++) { §int c = 1; a[0][0] = c; }")),
    "hidden parameter": ("CF0211", in_threads("§float r = 1;")),
    "float subscript": ("CF0212", in_threads("c[§r] = 1;")),
    "float bound": ("CF0212", in_threads("for (int k = 0; k < §r; k++) c[k] = 1;")),
    "float iterator": (
        "CF0212",
        in_region("§meta_for (float k = 0; k < d; k++) meta_for (int u = 0; u < B; u++) c[0] = 1;"),
    ),
    "float remainder": ("CF0212", in_threads("c[0] = n % §r;")),
    "float shift": ("CF0212", in_threads("c[0] = §r << 1;")),
    "float compound remainder": ("CF0212", in_threads("§c[0] %= 2;")),
    "variable local array": ("CF0213", in_threads("float w[§n];")),
    "empty local array": ("CF0213", in_threads("float w[§0];")),
    "missing argument": ("CF0214", in_threads("c[0] = §fmaxf(r);")),
    "data in host code": ("CF0215", in_host("  §c[0] = 0;")),
    "rows of an array that no region uses": ("CF0215", in_host("  §a[0][1] = 0;")),
    "rows behind a pointer": ("CF0215", in_host("  float (*r)[n] = a + 1; §r[0][1] = 0;")),
    "data handed to a function": ("CF0215", in_host("  init(§c, n);")),
    "data through a pointer": ("CF0215", in_host("  float *p = c; §p[0] = 1;")),
    "data of a pointer that a function of the file reads": (
        "CF0215",
        "static float head(float *p) { return p[0]; }\n" + in_host("  float *p = c; head(§p);"),
    ),
    "a pointer to memory of the host": (
        "CF0217",
        in_host("  float *p = malloc(n);").replace("meta_schedule", "§meta_schedule").replace("c[i", "p[i"),
    ),
    "a pointer that some path leaves unset": (
        "CF0217",
        in_host("  float *p; if (n > 3) p = c;")
        .replace("meta_schedule", "§meta_schedule")
        .replace("c[i", "p[i"),
    ),
    "two pointers to one array": (
        "CF0217",
        in_host("  float *p = c;")
        .replace("meta_schedule", "§meta_schedule")
        .replace("= 1", "= p[i * B + u]"),
    ),
    "parameter not understood": ("CF0216", with_parameters("int d, int B, §int n = 3, float *c")),
    "parameter of another type": ("CF0117", with_parameters("int d, int B, §count_t n, float *c")),
    "array of another type": ("CF0117", with_parameters("int d, int B, const §__fp16 *c")),
    "keyword of a region": ("CF0128", in_host("").replace("meta_schedule", "§meta_shedule")),
    "keyword of a loop": ("CF0128", in_host("").replace("meta_for (int i", "§metafor (int i")),
    "keyword of an update": ("CF0128", in_threads("§metaatomic c[0] += 1;")),
    "clause nearly right": ("CF0128", in_host("").replace("meta_schedule", "meta_schedule §cached(c)")),
    "clause that there is not": ("CF0128", in_host("").replace("meta_schedule", "meta_schedule §grid(d)")),
    "barrier of CUDA": ("CF0129", in_threads("c[0] = 1;\n§__syncthreads();\n__syncthreads();")),
    "memory of CUDA": ("CF0129", in_threads("§__shared__ float s[32];")),
    "constexpr": ("CF0129", in_threads("§constexpr int k = 3;")),
    "included text": ("CF0118", in_threads('§#include "body.inc"\nc[0] = 1;')),
    "division of a constant by zero": ("CF0221", in_threads("c[0] = §1/0;")),
    "division by zero": ("CF0221", in_threads("c[0] = §n % (3 - 3);")),
    "division by zero in host code": ("CF0221", in_host("  int q = §n / 0;")),
    "overflow": ("CF0221", in_threads("c[0] = §2147483647 + 1 + 1;")),
    "division of a variable by zero in an assignment": (
        "CF0221",
        in_threads("int k = u; k /= §0; c[0] = k;"),
    ),
    "shift too far": ("CF0221", in_threads("c[0] = §1 << 40;")),
    "shift of a variable too far": ("CF0221", in_threads("c[0] = §u << (40 - 8);")),
    "shift by less than nothing": ("CF0221", in_threads("c[0] = §(u & 7) >> -1;")),
    "shift of a promoted byte too far": ("CF0221", in_threads("unsigned char k = 1; c[0] = §k << 32;")),
    "shift in an assignment too far": ("CF0221", in_threads("int k = u; k >>= §32; c[0] = k;")),
    "number that an int does not hold": ("CF0222", in_threads("int k = §4000000000;")),
    "number that an assigned int does not hold": ("CF0222", in_threads("int k; k = §3000000000 + 0;")),
    "number that a byte does not hold": ("CF0222", in_threads("unsigned char k = §300;")),
    "number that a host scalar does not hold": ("CF0222", in_host("  int q = §4000000000;")),
    "syntax error below a block clause": (
        "CF0110",
        in_host("").replace("meta_schedule", "meta_schedule block(B)").replace("= 1;", "= (1§;"),
    ),
    "pointer to pointer": ("CF0216", with_parameters("int d, int B, §float **c")),
    "open inner dimension": ("CF0216", with_parameters("int d, int B, §float c[B][]")),
    "initialised local array": ("CF0218", in_threads("float §w[2] = 1;")),
    "name of C++": ("CF0219", in_threads("§int new = 1;")),
    "parameter named as in C++": (
        "CF0219",
        with_parameters("§int this, int d, int B, float *c"),
    ),
    "no parallel loop": ("CF0301", f"{HEAD}  §meta_schedule {{ c[0] = 1; }}\n}}"),
    "region outside": ("CF0302", f"§meta_schedule {{ {OK} }}"),
    "region in a structure": ("CF0302", f"struct s {{ §meta_schedule {{ {OK} }} }};"),
    "meta_for outside": ("CF0303", in_host("  §meta_for (int i = 0; i < n; i++) { }")),
    "region in a statement": ("CF0304", f"{HEAD} n = §meta_schedule {{ {OK} }} ; }}"),
    "region in a region": ("CF0305", in_threads("§meta_schedule { }")),
    "an imperfect nest": (
        "CF0331",
        f"{HEAD} meta_schedule block(B, 4) {{ meta_for (int i = 1; i < n; i++) {{ c[i] = 1; "
        "meta_for (int j = 0; j < n; j++) §c[n * i + j] = c[i - 1]; } } }",
    ),
    "return of a value": ("CF0330", in_host("  if (n < 0) §return 1;")),
    "goto in host code": ("CF0306", in_host("  §goto end;\nend:")),
    "serial loop outside": ("CF0307", in_region(f"§for (int t = 0; t < n; t++) {{ {OK} }}")),
    "statement outside": ("CF0307", in_region(f"§int k = 1; {OK}")),
    "two nests": ("CF0307", in_region(f"{OK} §{OK}")),
    "one loop": ("CF0308", in_region("§meta_for (int i = 0; i < n; i++) c[i] = 1;")),
    "three loops": ("CF0308", in_region(f"§meta_for (int v = 0; v < n; v++) {OK}")),
    "assignment between": (
        "CF0310",
        in_region(
            "meta_for (int i = 0; i < d; i++) { §c[i] = 0; meta_for (int u = 0; u < B; u++) c[u] = 1; }"
        ),
    ),
    "while between": (
        "CF0310",
        in_region("meta_for (int i = 0; i < d; i++) §while (n) meta_for (int u = 0; u < B; u++) c[u] = 1;"),
    ),
    "bound by an iterator": (
        "CF0311",
        in_region("meta_for (int i = 0; i < d; i++) meta_for (int u = 0; u < §i; u++) c[u] = 1;"),
    ),
    "bound by data": (
        "CF0311",
        in_region("meta_for (int i = 0; i < d; i++) meta_for (int u = 0; u < (int)§c[0]; u++) c[u] = 1;"),
    ),
    "bands of two shapes": (
        "CF0312",
        in_region(
            "meta_for (int i = 0; i < d; i++) { meta_for (int u = 0; u < B; u++) c[u] = 1; "
            "§meta_for (int w = 0; w < n; w++) c[w] = 1; }"
        ),
    ),
    "break from a parallel loop": ("CF0313", in_threads("if (r) §break;")),
    "break around parallel loops": (
        "CF0313",
        in_region(
            "meta_for (int i = 0; i < d; i++) for (int k = 0; k < n; k++) "
            "{ meta_for (int u = 0; u < B; u++) c[u] = 1; if (k > 3) §break; }"
        ),
    ),
    "cache of a scalar": ("CF0314", f"{HEAD}  §meta_schedule cache(c, n) {{ {OK} }}\n}}"),
    "cache of nothing": ("CF0314", f"{HEAD}  §meta_schedule cache(zzz) {{ {OK} }}\n}}"),
    "cache twice": ("CF0314", f"{HEAD}  §meta_schedule cache(c, c) {{ {OK} }}\n}}"),
    "parallel loop in threads": (
        "CF0315",
        in_region(
            "meta_for (int i = 0; i < d; i++) { int q = 1; meta_for (int u = 0; u < B; u++) "
            "for (int k = 0; k < n; k++) §meta_for (int w = 0; w < B; w++) c[w] = q; }"
        ),
    ),
    "data between": (
        "CF0316",
        in_region(
            "meta_for (int i = 0; i < d; i++) { float q = §b[i]; meta_for (int u = 0; u < B; u++) c[u] = q; }"
        ),
    ),
    "block variable changed": (
        "CF0316",
        in_region("meta_for (int i = 0; i < d; i++) { int q = 1; meta_for (int u = 0; u < B; u++) §q = u; }"),
    ),
    "step zero": ("CF0317", in_threads("for (int k = 0; k < n; k += §0) c[k] = 1;")),
    "wrong way": ("CF0317", in_threads("for (int k = 0; k < n; k§--) c[k] = 1;")),
    "step by an expression": (
        "CF0317",
        in_region("meta_for (int i = 0; i < d; i += §n*B) meta_for (int u = 0; u < B; u++) c[u] = 1;"),
    ),
    "a call of itself": ("CF0319", in_host("  §f(n, 0);")),
    "a variable of the file": ("CF0320", "static int §shift;\n" + in_host("  shift = n;")),
    "two functions": ("CF0322", f"{in_host('')}§{in_host('')}"),
    "a function and a region": (
        "CF0322",
        in_host(REGION + REGION) + "§" + in_host("").replace("void f(", "void f_2("),
    ),
    "a limit of the machine": ("CF0220", "void f(int n, float *c, §int T_B) { " + REGION + " }"),
    "a level of performance": ("CF0220", "void f(int n, float *c) { int §P_occ = n; " + REGION + " }"),
    "a block clause": ("CF0323", in_host("").replace("meta_schedule", "meta_schedule block(§n)")),
    "an idle array cached": ("CF0314", in_host("").replace("meta_schedule", "§meta_schedule cache(a)")),
    "atomic local variable": ("CF0225", in_threads("int k = 0; meta_atomic §k += 1;")),
    "atomic element of a local array": ("CF0225", in_threads("int t[4]; meta_atomic §t[0] += 1;")),
    "atomic store": ("CF0225", in_threads("meta_atomic §c[0] = 1;")),
    "atomic product": ("CF0225", in_threads("meta_atomic §c[0] *= 2;")),
    "atomic declaration": ("CF0225", in_threads("§meta_atomic int k = 1;")),
    "atomic nothing": ("CF0225", in_threads("§meta_atomic ;")),
    "atomic block": ("CF0225", in_threads("§meta_atomic { c[0] += 1; }")),
    "atomic update of bytes": (
        "CF0226",
        "void f(int d, int B, unsigned char *c) { meta_schedule { "
        + OK.replace("c[i * B + u] = 1", "meta_atomic §c[u] += 1")
        + " } }",
    ),
    "atomic update of half": (
        "CF0226",
        "void f(int d, int B, half *c) { meta_schedule { "
        + OK.replace("c[i * B + u] = 1", "meta_atomic §c[u] += 1.0f")
        + " } }",
    ),
    "half passed by value": ("CF0223", with_parameters("int d, int B, §half r, float *c")),
    "half of host code": (
        "CF0223",
        in_host("  bfloat16 §r = 0.5f;").replace("c[i * B + u] = 1", "c[i * B + u] = r"),
    ),
    "half that counts": (
        "CF0212",
        in_region("§meta_for (half h = 0; h < d; h++) meta_for (int u = 0; u < B; u++) c[0] = h;"),
    ),
    "half as a subscript": ("CF0212", in_threads("half h = 1.0f; c[§h] = 1;")),
    "half as a length": ("CF0213", in_threads("half h = 2.0f; float t[§h];")),
    "remainder of half": ("CF0212", in_threads("half h = 2.0f; c[0] = §h % 2;")),
    "arithmetic of CUDA": ("CF0129", in_threads("half h = 2.0f; c[0] = §__hadd(h, h);")),
    "atomic update of float by double": ("CF0226", in_threads("meta_atomic c[0] += §0.5;")),
    "atomic update of int by float": (
        "CF0226",
        "void f(int d, int B, int *c, float r) { meta_schedule { "
        + OK.replace("c[i * B + u] = 1", "meta_atomic c[u] += §r")
        + " } }",
    ),
    "atomic update outside a region": ("CF0303", in_host("§meta_atomic d += 1;")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_reported_once_where_it_is(name: str) -> None:
    code, marked = CASES[name]
    offset = marked.find("§")
    _, sink = parse_text(marked.replace("§", ""))
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code == code, render(diagnostic)
    assert (diagnostic.span.start if diagnostic.span else -1) == offset, render(diagnostic)
    assert diagnostic.help
    assert len(render(diagnostic)) < 2000


def test_every_code_in_the_readme_has_a_test_and_every_code_is_in_the_readme() -> None:
    package = Path(comprehensive.metafork.__path__[0])
    sources = "".join(path.read_text() for path in sorted(package.glob("*.py")))
    used = set(re.findall(r'"(CF0\d{3})"', sources))
    listed = set(re.findall(r"^\| (CF0\d{3}) ", (package / "README.md").read_text(), re.MULTILINE))
    tested = {code for code, _ in CASES.values()} | {"CF0101", "CF0102", "CF0103"}  # test_read.py
    assert used == listed
    assert used == tested | {
        code for code in used if code.startswith("CF023")
    }  # test_inlining.py, test_constant_arrays.py


def test_several_mistakes_are_reported_in_one_run_without_cascades() -> None:
    _, sink = parse_text(
        in_threads("c[0] = *2;\nfor (int k = 0 k < n; k++) { c[k] = 1; }\nc[1] = 2\nc[2] = 3;\ngoto x;")
    )
    assert [d.code for d in sink.diagnostics] == ["CF0113", "CF0110", "CF0111", "CF0112"]


def test_an_if_that_was_dropped_takes_its_else_along() -> None:
    _, sink = parse_text(
        in_threads("if (r .) { c[0] = 1; } else { c[0] = 2; }\nif (r +) c[0] = 1; else c[0] = 2;")
    )
    assert [d.code for d in sink.diagnostics] == ["CF0114", "CF0110"]


def test_messages_name_what_to_use_instead() -> None:
    _, sink = parse_text(in_threads("long double k = 0;"))
    assert render(sink.diagnostics[0]) == (
        "t.mf:7:1: error: type 'long double' is not supported [CF0117]\n"
        "    7 | long double k = 0;\n"
        "      | ^~~~~~~~~~~\n"
        "help: use double; the types are the integers of C and stdint.h, bool, half, bfloat16, float and double"
    )


def test_a_syntax_error_says_what_was_found_and_expected() -> None:
    _, sink = parse_text(in_threads("for (int k = 0 k < n; k++) c[k] = 1;"))
    assert render(sink.diagnostics[0]) == (
        "t.mf:7:16: error: found 'k', expected an operator or ';' [CF0110]\n"
        "    7 | for (int k = 0 k < n; k++) c[k] = 1;\n"
        "      |                ^\n"
        "help: a loop header has the form (int i = start; i < bound; i += step)"
    )


def test_a_note_points_at_the_declaration() -> None:
    _, sink = parse_text(in_threads("b[0] = 1;"))
    assert render(sink.diagnostics[0]) == (
        "t.mf:7:1: error: 'b' is const and is changed here [CF0209]\n"
        "    7 | b[0] = 1;\n"
        "      | ^~~~\n"
        "t.mf:1:42: note: declared here\n"
        "    1 | void f(int n, int B, float r, float a[n][n], const float b[n], float *c)\n"
        "      |                                              ^~~~~~~~~~~~~~~~\n"
        "help: remove 'const' from its declaration, or write to another array"
    ).replace("1:42", "1:46")


def test_a_macro_in_a_region_is_called_a_macro() -> None:
    _, sink = parse_text("#define SIZE (SIZE + 1)\n" + in_threads("c[0] = SIZE;"))
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code == "CF0201"
    assert (
        diagnostic.help
        == "the macro 'SIZE' comes back to itself, or lacks its arguments: write what it stands for"
    )


def test_keywords_in_comments_and_strings_mean_nothing() -> None:
    _, sink = parse_text(
        '// meta_schedule {\n/* meta_for */ const char *s = "meta_schedule {"; char q = \'"\';\n'
        "#define M meta_schedule {\n" + in_threads("c[0] = 1; /* meta_schedule { */ // meta_for goto")
    )
    assert sink.diagnostics == ()


@pytest.mark.parametrize(
    ("text", "help_text"),
    [
        (in_threads("if (r) §break;"), "guard the work of the iterations with an 'if'"),
        (with_parameters("int d, int B, §float c[B][]"), "write 'c[n][m]'"),
        (
            with_parameters("int d, int B, §float **c"),
            "pass one block of memory, 'float (*c)[m]' for c[i][j]",
        ),
        (
            with_parameters("int d, int B, float *c, const §struct s *p"),
            "an array of its own for every member",
        ),
        (
            "int main(int argc, char **argv) { meta_schedule { meta_for (int i = 0; i < 9; i++) ; } }",
            "a function of its own",
        ),
        (
            in_threads("float *t = malloc(4 * sizeof(float)); c[0] = t[0];"),
            "a local array of constant length",
        ),
        (f"{HEAD}  meta_schedule block(B) {{ for (int i = 0; i < n; i++) c[i] = 1; }}\n}}", "as 'meta_for'"),
        (in_threads("sqrtf(r);"), "memset and memcpy are written as loops"),
        (with_parameters("int d, int B, §float c[][]"), "write 'c[n][m]'"),
        (with_parameters("int d, int B, §float c[][B][]"), "write 'c[n][m][p]'"),
        (in_threads("c[0] = sqrrf(r);"), "write 'sqrtf', or define 'sqrrf' in the file"),
        (in_threads("c[0] = foo(r);"), "one of the pure functions of <math.h>, such as 'floor', 'floorf'"),
    ],
)
def test_the_advice_can_be_followed(text: str, help_text: str) -> None:
    _, sink = parse_text(text.replace("§", ""))
    (found,) = sink.diagnostics
    assert found.help is not None
    assert help_text in found.help


@pytest.mark.parametrize("statement", ["float *t = c;", "c = c + n;", "if (c == c) n = n;", "(void)c;"])
def test_pointers_to_data_may_be_copied_and_compared(statement: str) -> None:
    _, sink = parse_text(in_host(f"  {statement}"))
    assert not [found for found in sink.diagnostics if found.code == "CF0215"]


@pytest.mark.parametrize(
    "statement",
    [
        "c[0] = 0 ? u >> 32 : u;",
        "c[0] = 3 == 3 ? u : u / 0;",
        "c[0] = 0 && u / 0;",
        "c[0] = 1 < 2 || u << 40 > 0;",
        "if (0) c[0] = u << 32; else c[0] = 1;",
        "long k = u; c[0] = k << 32;",
        "c[0] = u >> 31;",
    ],
)
def test_what_cannot_run_needs_no_value(statement: str) -> None:
    _, sink = parse_text(in_threads(statement))
    assert sink.diagnostics == ()


@pytest.mark.parametrize("text", ["c[0] = 1; float complex z = c[0];", "double _Complex z = c[0]; c[1] = 2;"])
def test_complex_numbers_are_structures_of_two_numbers(text: str) -> None:
    _, sink = parse_text(in_threads(text))
    assert "struct { float re, im; }" in str(sink.diagnostics[0].help)
    _, sink = parse_text(in_threads("c[0] = 1;").replace("float *c", "float complex *c"))
    assert "struct { float re, im; }" in str(sink.diagnostics[0].help)
