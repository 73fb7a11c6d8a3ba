"""Functions of Python over counts are printed in C as they stand, and what C does not have is refused by name."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.printed_functions import functions_of

HEAD = "from comprehensive.machine.counts import Count, Integer, number_of, plus, times, total\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    """The text that a test has for a parameter, as a module."""
    (tmp_path / "counted.py").write_text(HEAD + request.param)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("counted", None)
    return __import__("counted")


def printed(module: ModuleType) -> list[str]:
    return [line.strip() for line in functions_of(module, "f").splitlines()]


FOLDED = """
def f(n: int, a: Count) -> Count:
    \"\"\"Return a sum.\"\"\"
    most: Count = 0
    for k in range(n):
        if k > 1 or n == k:
            most = max(most, plus(a, k))
        elif not most > 2:
            most += a - (most - a)
    return total(times(g(a), each) for each in range(n) if each > most // 2)

def g(a: Count) -> Count:
    return a * (a + 1) if a > 0 else 1
"""


@pytest.mark.parametrize("module", [FOLDED], indirect=True)
def test_what_is_called_stands_first_and_operators_keep_their_operands(module: ModuleType) -> None:
    assert printed(module) == [
        "static inline cf_count cf_g(cf_count a)",
        "{",
        "return a > 0 ? a * (a + 1) : 1;",
        "}",
        "",
        "/* Return a sum. */",
        "static inline cf_count cf_f(int n, cf_count a)",
        "{",
        "cf_count most = 0;",
        "for (int k = 0; k < n; k++) {",
        "if (k > 1 || n == k)",
        "most = cf_most(most, cf_plus(a, (cf_count)k));",
        "else if (!(most > 2))",
        "most += a - (most - a);",
        "}",
        "cf_count found = 0;",
        "for (int each = 0; each < n; each++) {",
        "if (each > most / 2)",
        "found = cf_plus(found, cf_times(cf_g(a), (cf_count)each));",
        "}",
        "return found;",
        "}",
    ]


APART = """
def f(a: Integer, b: Integer) -> Count:
    return number_of(abs(min(a, b) - a))
"""


@pytest.mark.parametrize("module", [APART], indirect=True)
def test_integers_say_where_they_overflow(module: ModuleType) -> None:
    assert "return cf_number_of(cf_abs(cf_sub(cf_fewer(a, b), a)));" in printed(module)


REFUSED = {
    "while a > 0:\n        a = a - 1\n    return a": "while a > 0",
    "return sorted(a)": "not called in C: sorted",
    "return a ** 2": "a ** 2",
}


@pytest.mark.parametrize(
    ("module", "said"),
    [(f"def f(a: Count) -> Count:\n    {body}\n", said) for body, said in REFUSED.items()],
    indirect=["module"],
    ids=["loop", "call", "operator"],
)
def test_what_c_does_not_have_is_refused(module: ModuleType, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("*", r"\*")):
        functions_of(module, "f")
