"""Launchers that look for the best version while a function runs: what is tried, what is kept, and where nothing is."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.embedded import Embedded, embedded, image_of
from comprehensive.embedding.targets import targets_of
from comprehensive.generate import source_texts
from comprehensive.plan.versions import Adaptation, Candidate
from comprehensive.records import replace
from comprehensive.toolchain.nvcc import Tool
from tests.unit.embedding.adapted import planned
from tests.unit.embedding.recorded import built, demand_thread_sanitizer

pytestmark = pytest.mark.toolchain
SYMBOLS = {
    0: "matadd_leaf0",
    1: "cf_version1_matadd_leaf0",
    2: "cf_version2_matadd_leaf0",
    3: "cf_version3_matadd_leaf0",
}
# An argument is a size, with how it is called behind it: adapt (a), not (n), without parameters (d).
MAIN = """
#include "matadd.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments)
{
  for (int k = 1; k < count; k++) {
    char *how = 0;
    const int n = (int)strtol(arguments[k], &how, 10);
    const matadd_params params = { 16, 16, 0, 0, *how == 'a' }; // the leaf, with blocks of 256 threads
    cf_choice why;
    const int status = matadd_launch_explained(0, n, 0, 0, 0, *how == 'd' ? 0 : &params, 0, &why);
    printf("said %s\\ncandidate %d\\nstatus %d\\n", why.adaptation, why.candidate, status);
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def image(nvcc: Tool) -> Embedded:
    assert nvcc.path
    return embedded(planned(), targets_of("sm_90"), KernelCompiler.find("", None), "0")


@pytest.fixture(scope="module")
def program(image: Embedded, nvcc: Tool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built((image, source_texts(planned())), nvcc, tmp_path_factory.mktemp("adaptation"), MAIN)


def runs(program: Path, calls: Sequence[str], **environment: str) -> tuple[list[int], list[str]]:
    """The versions that calls run, and what they say of the search."""
    variables = {
        f"RECORDER_{name.upper()}" if name != "CF_ADAPT" else name: text for name, text in environment.items()
    }
    done = subprocess.run([program, *calls], env=variables, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    numbers = {symbol: number for number, symbol in SYMBOLS.items()}
    found = [numbers[line.split()[1]] for line in lines if line.startswith("launch")]
    assert [line for line in lines if line.startswith("status")] == ["status 0"] * len(calls)
    assert [int(line.split()[1]) for line in lines if line.startswith("candidate")] == found
    return found, [line.removeprefix("said ") for line in lines if line.startswith("said")]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        # The first one along is slower: so is the one against the direction, or it is kept.
        ("1,2,3,4", [0, 1, 3, 0, 0, 0]),
        ("3,4,9,2.5", [0, 1, 3, 3, 3, 3]),
        # One along is better, the next one is not; the original is not short, and not tried again.
        ("3,2.5,2.8,1", [0, 1, 2, 1, 1, 1]),
        ("3,2.5,2.2,1", [0, 1, 2, 2, 2, 2]),
        # What is short, and gains little, is compared with the original when that is warm.
        ("1,0.8,0.9,0.1", [0, 1, 2, 1, 1, 1]),
        ("1,0.95,0.99,0.1", [0, 1, 0, 1, 1, 1]),
    ],
)
def test_candidates_are_tried_until_one_is_slower(times: str, expected: list[int], program: Path) -> None:
    found, said = runs(program, ["1000a"] * 6, times=times)
    assert found == expected
    assert said[0] == "looking for the best version"
    assert said[-1] == "settled"


def test_of_versions_that_are_as_fast_the_lowest_occupancy_is_kept(program: Path) -> None:
    assert runs(program, ["1000a"] * 5, times="3,3.5,9,2.99")[0][-1] == 3
    # With as many warps there is nothing to choose.
    assert runs(program, ["1000a"] * 5, times="3,2.99,9,9")[0][-1] == 1


def test_nothing_is_tried_while_a_graph_is_captured(program: Path) -> None:
    found, said = runs(program, ["1000a"] * 4, captures="1")
    assert found == [0] * 4
    assert said == ["not looked for while a graph is captured"] * 4


def test_launches_do_not_wait_for_times(program: Path) -> None:
    assert runs(program, ["1000a"] * 8, times="3,2,4,5", busy="3")[0] == [0, 0, 0, 0, 1, 2, 1, 1]


def test_a_version_that_does_not_run_here_is_left_out(program: Path) -> None:
    found, said = runs(program, ["1000a"] * 5, times="3,1,2,1", missing=SYMBOLS[1])
    assert found == [0, 2, 2, 2, 2]
    assert said[1] == "looking for the best version; one does not run here"


def test_what_repeats_another_candidate_is_skipped_without_a_launch(
    image: Embedded, nvcc: Tool, tmp_path: Path
) -> None:
    plan = planned()
    (function,) = plan.functions
    repeated = Adaptation((Candidate(0), Candidate(1), Candidate(1), Candidate(3)), 3)
    again = replace(plan, functions=(replace(function, adaptation=repeated),))
    _, text = image_of(again, image.targets, image.kernels, "0")
    program = built((replace(image, text=text), source_texts(again)), nvcc, tmp_path, MAIN)
    done = subprocess.run(
        [program, *["1000a"] * 4],
        env={"RECORDER_TIMES": "3,2.5,9,2"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("candidate")] == ["0", "1", "3", "3"]
    assert [line for line in lines if line.startswith("said")][-1] == "said settled"


def test_sizes_that_change_in_every_call_run_the_original(program: Path) -> None:
    found, said = runs(program, ["1000a", "999a", "998a", "997a", "996a", "995a"], times="3,1,1,1")
    assert found == [0] * 6
    assert said[-1] == "looked for at other sizes of this class"


def test_what_is_found_at_one_size_goes_for_its_class(program: Path) -> None:
    calls = ["1000a"] * 4 + ["999a", "500a", "500a", "1001a"]
    assert runs(program, calls, times="3,4,4,1")[0] == [0, 1, 3, 3, 3, 0, 1, 3]


def test_what_is_too_short_to_be_timed_runs_the_original(program: Path) -> None:
    found, said = runs(program, ["1000a"] * 4, times="0.004,0.001,0.001,0.001")
    assert found == [0] * 4
    assert said[-1] == "too short to be timed"


def test_nothing_is_tried_unless_that_is_asked_for(program: Path) -> None:
    found, said = runs(program, ["1000n"] * 3, times="3,1,1,1")
    assert found == [0] * 3
    assert said == [""] * 3
    chosen = ["1000d"] * 3
    assert set(_said(program, chosen)) == {""}
    assert _said(program, chosen, CF_ADAPT="1")[0] == "looking for the best version"


def _said(program: Path, calls: Sequence[str], **environment: str) -> list[str]:
    done = subprocess.run([program, *calls], env=environment, capture_output=True, text=True, check=True)
    return [line.removeprefix("said ") for line in done.stdout.splitlines() if line.startswith("said")]


def test_every_class_of_sizes_has_a_search_of_its_own(program: Path) -> None:
    calls = [f"{1 << bits}a" for bits in range(5, 15)]
    found, said = runs(program, calls * 5, times="3,1,2,1")
    assert found == [0] * 10 + [1] * 10 + [2] * 10 + [1] * 20
    assert said == ["looking for the best version"] * 30 + ["settled"] * 20


def test_persistent_blocks_are_as_many_as_warps_say(program: Path) -> None:
    done = subprocess.run(
        [program, *["1000a"] * 3],
        env={"RECORDER_TIMES": "3,9,9,1"},
        capture_output=True,
        text=True,
        check=True,
    )
    launched = [line.split() for line in done.stdout.splitlines() if line.startswith("launch")]
    assert [line[1] for line in launched] == [SYMBOLS[0], SYMBOLS[1], SYMBOLS[3]]
    # 31 x 62 blocks of 256 threads; 8 warps are one block on each of 132 multiprocessors.
    assert [line[2:4] for line in launched] == [["31,62,1", "16,16,1"]] * 2 + [["132,1,1", "16,16,1"]]


THREADED = """
#include "matadd.h"
#include <pthread.h>
#include <stdio.h>
static int failed;
static void *work(void *none)
{
  const matadd_params params = { 16, 16, 0, 0, 1 };
  for (int k = 0; k < 50; k++) {
    cf_choice why;
    if (matadd_launch_explained(0, 1000, 0, 0, 0, &params, 0, &why) != 0) return &failed;
  }
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
  const matadd_params params = { 16, 16, 0, 0, 1 };
  cf_choice why;
  for (int k = 0; k < 10; k++)
    if (matadd_launch_explained(0, 1000, 0, 0, 0, &params, 0, &why) != 0) return 1;
  printf("said %s\\n", why.adaptation);
  return 0;
}
"""


def test_threads_look_together_and_try_no_more_than_one_would(nvcc: Tool, tmp_path: Path) -> None:
    demand_thread_sanitizer(tmp_path)
    plan = planned()
    image = embedded(plan, targets_of("sm_90"), KernelCompiler.find("", None), "0")
    threaded = built((image, source_texts(plan)), nvcc, tmp_path, THREADED, "-fsanitize=thread")
    environment = {"RECORDER_TIMES": "3,2,9,9", "TSAN_OPTIONS": "exitcode=66"}
    done = subprocess.run([threaded], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ran = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("launch")]
    assert len(ran) == 210
    # Times overlap here: which one wins is open, but not how often one is tried that does not.
    assert ran.count(SYMBOLS[2]) <= 1 or ran.count(SYMBOLS[1]) <= 1
    assert sum(ran.count(SYMBOLS[k]) == 1 for k in (1, 2, 3)) <= 3
    # A thread that is kept waiting with a version to time holds up the search, but only until it goes on.
    assert [line for line in done.stdout.splitlines() if line.startswith("said")] == ["said settled"]
