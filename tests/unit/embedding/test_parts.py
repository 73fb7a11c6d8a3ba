"""One launch in parts that run several versions: every block once, what is tried and kept, and where nothing is."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.embedded import embedded
from comprehensive.embedding.targets import targets_of
from comprehensive.generate import source_texts
from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import ORIGINAL, Adaptation, Candidate, Version
from comprehensive.records import replace
from comprehensive.toolchain.nvcc import Tool
from tests import compiled_specs
from tests.unit.embedding.adapted import planned, planned_in_parts
from tests.unit.embedding.recorded import built, demand_thread_sanitizer, launches

pytestmark = pytest.mark.toolchain
ARGUMENTS = str(len(planned().functions[0].regions[0].leaves[0].kernel.parameters))
LONG, BLOCKS = 6500, 203 * 406  # of which 1056 are on the device at a time
# An argument is a size, with how it is called behind it: parts of a launch (p), whole ones (a), without parameters (d).
MAIN = """
#include "matadd.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments)
{
  for (int k = 1; k < count; k++) {
    char *how = 0;
    const int n = (int)strtol(arguments[k], &how, 10);
    const matadd_params params = { 16, 16, 0, 0, *how == 'p' ? 2 : *how == 'a' ? 1 : *how == 'x' ? 3 : 0 };
    cf_choice why;
    const int status = matadd_launch_explained(0, n, 0, 0, 0, *how == 'd' ? 0 : &params, 0, &why);
    printf("said %s\\ncandidate %d\\nstatus %d\\n", why.adaptation, why.candidate, status);
  }
  return 0;
}
"""


def program_of(plan: ProgramPlan, nvcc: Tool, directory: Path, main: str = MAIN, *flags: str) -> Path:
    image = embedded(plan, targets_of("sm_90"), KernelCompiler.find("", None), "0")
    return built((image, source_texts(plan)), nvcc, directory, main, *flags)


@pytest.fixture(scope="module")
def program(nvcc: Tool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return program_of(planned_in_parts(), nvcc, tmp_path_factory.mktemp("parts"))


Ran = tuple[int, int, int]
"""The version of a launch, its first block, and the end of its blocks; 0 and 0 where it was launched as a whole."""


def runs(program: Path, calls: Sequence[str], **environment: str) -> tuple[list[Ran], list[str]]:
    """Run the program; return what its calls launch, and what they say of the search."""
    variables = {
        f"RECORDER_{name.upper()}" if name != "CF_ADAPT" else name: text for name, text in environment.items()
    }
    variables["RECORDER_ARGUMENTS"] = ARGUMENTS
    done = subprocess.run([program, *calls], env=variables, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("status")] == ["status 0"] * len(calls)
    found = [_ran(line.split()) for line in lines if line.startswith("launch")]
    return found, [line.removeprefix("said ") for line in lines if line.startswith("said")]


def _ran(words: Sequence[str]) -> Ran:
    version = int(words[1].removeprefix("cf_version")[0]) if words[1].startswith("cf_version") else 0
    first, end = words[5].split("-") if len(words) > 5 else ("0", "0")
    return version, int(first), int(end)


def demand_every_block_once(ran: Sequence[Ran], blocks: int = BLOCKS) -> None:
    ends = [end for _, _, end in ran]
    assert [first for _, first, _ in ran] == [0, *ends[:-1]]
    assert ends[-1] == blocks


@pytest.mark.parametrize(
    ("times", "versions"),
    [
        # One along is the best: nothing of the other direction is tried, and the rest of the blocks runs it.
        ("90,20,30,10,90", [4, 4, 1, 2, 1]),
        ("90,30,20,10,90", [4, 4, 1, 2, 2]),
        # None along is better: the other direction, which wins or does not.
        ("90,95,99,30,90", [4, 4, 1, 2, 4, 3, 3]),
        ("90,95,99,97,90", [4, 4, 1, 2, 4, 3, 4]),
        # Of versions that are as fast the one with the fewest warps.
        ("90,99,99,91,90", [4, 4, 1, 2, 4, 3, 3]),
    ],
)
def test_parts_try_the_candidates_in_order_and_the_rest_runs_the_best(
    times: str, versions: list[int], program: Path
) -> None:
    ran, said = runs(program, [f"{LONG}p"], times=times)
    assert [version for version, _, _ in ran] == versions
    demand_every_block_once(ran)
    assert said == ["settled by parts of a launch"]


@pytest.mark.parametrize("n", [6497, 6500, 7001, 9999, 20011])
def test_all_blocks_run_once_whatever_their_number(n: int, program: Path) -> None:
    # A whole launch of persistent blocks says how many there are.
    whole, _ = runs(program, [f"{n}p", f"{n}a"], times="90,95,99,30,90")
    *parts, after = whole
    assert after[:2] == (3, 0)
    demand_every_block_once(parts, after[2])
    held = {0: 1056, 1: 1056, 2: 1056, 3: 132, 4: 1056}
    for version, first, end in parts[:-1]:
        assert (end - first) % held[version] == 0
        assert (end - first) * 16 <= after[2]


def test_one_divided_call_decides_for_its_class_of_sizes(program: Path) -> None:
    ran, said = runs(
        program, [f"{LONG}p", f"{LONG}p", f"{LONG + 1}a", f"{LONG}d"], times="90,20,30,10,90", CF_ADAPT="2"
    )
    assert [version for version, _, _ in ran[5:7]] == [1, 1]
    assert [first for _, first, _ in ran[5:7]] == [0, 0]
    assert set(said[:3]) == {"settled by parts of a launch"}


def test_nothing_is_divided_while_a_graph_is_captured(program: Path) -> None:
    ran, said = runs(program, [f"{LONG}p"] * 2, captures="1")
    assert ran == [(0, 0, 0)] * 2
    assert said == ["not looked for while a graph is captured"] * 2


def test_too_few_blocks_are_tried_as_whole_launches(program: Path) -> None:
    ran, said = runs(program, ["1000p"] * 5, times="90,20,30,10,90")
    assert [version for version, _, _ in ran] == [0, 1, 2, 1, 1]
    assert said[:3] == ["not divided: too few blocks to be timed in parts"] * 3
    assert said[3:] == ["settled"] * 2


def test_the_last_size_that_is_too_small_and_the_first_that_is_not(program: Path) -> None:
    divided = [len(runs(program, [f"{n}p"])[0]) > 1 for n in range(4000, 8000, 100)]
    assert divided == sorted(divided)
    assert len(set(divided)) == 2


def test_a_version_that_is_missing_runs_in_no_part(program: Path) -> None:
    missing = "cf_version1_matadd_leaf0"
    ran, said = runs(program, [f"{LONG}p"], times="90,20,30,10,90", missing=missing)
    assert [version for version, _, _ in ran] == [4, 4, 2, 2]
    demand_every_block_once(ran)
    assert said == ["settled by parts of a launch; a version does not run here"]


def test_without_the_original_in_parts_launches_are_whole(program: Path) -> None:
    ran, said = runs(program, [f"{LONG}p"] * 2, times="90,20,30,10,90", missing="cf_version4_matadd_leaf0")
    assert [version for version, _, _ in ran] == [0, 1]
    assert said == ["not divided: the blocks of this kernel cannot be launched in parts"] * 2


def test_parts_that_are_too_short_tell_nothing_and_the_original_runs_the_rest(program: Path) -> None:
    ran, said = runs(program, [f"{LONG}p", f"{LONG}p"], times="0.1,0.01,0.01,0.01,0.1")
    assert [version for version, _, _ in ran] == [4, 4, 1, 2, 4, 0]
    demand_every_block_once(ran[:-1])
    assert said == ["too short to be timed in parts"] * 2


def test_where_events_cannot_be_made_the_original_runs(program: Path) -> None:
    ran, said = runs(program, [f"{LONG}p"], untimed="1")
    assert ran == [(0, 0, 0)]
    assert said == ["launches cannot be timed"]


def test_a_search_in_whole_launches_goes_on_so(program: Path) -> None:
    ran, said = runs(program, [f"{LONG}a", f"{LONG}p", f"{LONG}p"], times="90,20,30,10,90")
    assert [version for version, _, _ in ran] == [0, 1, 2]
    assert said[1:] == ["not divided: whole launches are compared"] * 2


def test_the_environment_asks_where_there_are_no_parameters(program: Path) -> None:
    _, said = runs(program, [f"{LONG}d"], times="90,20,30,10,90", CF_ADAPT="2")
    assert said[0].startswith(("settled by parts", "not divided: "))
    assert runs(program, [f"{LONG}d"], CF_ADAPT="3")[1] == [""]


def test_other_numbers_are_refused(program: Path) -> None:
    done = subprocess.run([program, f"{LONG}x"], env={}, capture_output=True, text=True, check=True)
    assert not [line for line in done.stdout.splitlines() if line.startswith("launch")]
    assert "status 2" in done.stdout


def test_a_call_of_several_launches_is_not_divided(nvcc: Tool, tmp_path: Path) -> None:
    plan = compiled_specs.compiled("jacobi1d").plan
    (function,) = plan.functions
    pipelines = ("register-cap{registers=32},grid-stride", "grid-stride")
    versions = (ORIGINAL, *(Version.of(pipeline, function.kernels_of(0)) for pipeline in pipelines))
    adaptation = Adaptation((Candidate(0), Candidate(1)), 1, parts=2)
    plan = replace(plan, functions=(replace(function, versions=versions, adaptation=adaptation),))
    image = embedded(plan, targets_of("sm_90"), KernelCompiler.find("", None), "0")
    call = (
        "jacobi1d_launch_explained(0, {0}, {0}00000002, 0, &(jacobi1d_params){{ 2, 64, 0, 0, 2 }}, 0, &why)"
    )
    calls = [f'{call.format(sweeps)}; printf("said %s\\n", why.adaptation)' for sweeps in (1, 2)]
    said = launches((image, source_texts(plan)), nvcc, tmp_path, calls)
    assert [line for line in said if line.startswith("said")] == [
        "said settled by parts of a launch",
        "said not divided: a call of several launches",
    ]


THREADED = """
#include "matadd.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
static int failed;
static void *work(void *none)
{
  const matadd_params params = { 16, 16, 0, 0, 2 };
  cf_choice why;
  int calls = 0;
  do { // another thread divides its launch for as long as it takes
    if (matadd_launch_explained(0, 6500, 0, 0, 0, &params, 0, &why) != 0) return &failed;
    calls++;
    sched_yield();
  } while (calls < 20 || (strncmp(why.adaptation, "settled", 7) != 0 && calls < 100000));
  printf("said %s\\ncalls %d\\n", why.adaptation, calls);
  return none;
}
int main(void)
{
  pthread_t threads[4];
  void *left = 0;
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], 0, work, 0);
  for (int k = 0; k < 4; k++) {
    pthread_join(threads[k], &left);
    if (left) return 1;
  }
  return 0;
}
"""


def test_of_threads_that_ask_together_one_divides_its_launch(nvcc: Tool, tmp_path: Path) -> None:
    demand_thread_sanitizer(tmp_path)
    threaded = program_of(planned_in_parts(), nvcc, tmp_path, THREADED, "-fsanitize=thread")
    environment = {"TSAN_OPTIONS": "exitcode=66", "RECORDER_ARGUMENTS": ARGUMENTS}
    done = subprocess.run([threaded], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    ran = [_ran(line.split()) for line in lines if line.startswith("launch")]
    parts = [each for each in ran if each[2] - each[1] not in (0, BLOCKS)]
    demand_every_block_once(parts)
    calls = sum(int(line.split()[1]) for line in lines if line.startswith("calls"))
    assert len(ran) == calls - 1 + len(parts)
    assert {line for line in lines if line.startswith("said")} == {"said settled by parts of a launch"}


def test_versions_without_numbers_are_tried_as_whole_launches(nvcc: Tool, tmp_path: Path) -> None:
    ran, said = runs(program_of(planned(), nvcc, tmp_path), [f"{LONG}p"] * 2, times="90,20,30,10")
    assert [version for version, _, _ in ran] == [0, 1]
    assert said == ["not divided: kernels for that are made by `gen --adapt-split`"] * 2
