"""Candidates are compiled, compared, timed, stored; what one of them does costs that one only; runs resume."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Compilation
from comprehensive.generate import source_texts
from comprehensive.records import replace
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.tuning.case import Tuned
from comprehensive.tuning.choices import Choices, Limits
from comprehensive.tuning.devices import Target, find_devices
from comprehensive.tuning.pools import Pool
from comprehensive.tuning.store import Result, Store
from comprehensive.tuning.tune import tune
from comprehensive.tuning.winners import winners, write_winners
from tests.unit.tuning.programs import OPTIONS, PAIRS, Faulty, compiled

pytestmark = pytest.mark.skipif(
    find_c_compiler() is None or find_cxx_compiler() is None, reason="no C and C++ compilers on the PATH"
)
SIZES = [{"n": 1000}]
BLOCKS = (32, 64, 128)
(CPU,) = find_devices("cpu")


@pytest.fixture
def pairs() -> Compilation:
    return compiled()


def tuned(
    compilation: Compilation,
    folder: Path,
    *,
    blocks: Iterable[int] = BLOCKS,
    faults: Mapping[int, str] | None = None,
    target: Target = CPU,
    pool: Pool | None = None,
    limits: Limits | None = None,
    sizes: Iterable[Mapping[str, int]] = SIZES,
    lines: list[str] | None = None,
) -> tuple[Tuned, ...]:
    choices = Choices(domains={"B": [1, *blocks]}, capped_leaves=0, limits=limits or Limits())
    with Store.open(folder / "tuning.sqlite") as store:
        return tune(
            compilation,
            OPTIONS,
            sizes,
            [target],
            store,
            folder / "work",
            choices,
            measure_pool=pool,
            texts=source_texts if faults is None else Faulty(faults),
            tell=(lines if lines is not None else []).append,
        )


def by_block(found: tuple[Tuned, ...]) -> dict[int, Result]:
    return {dict(r.candidate.parameters)["B"]: r for each in found for r in each.results}


def test_every_candidate_is_right_and_timed_and_the_fastest_one_wins(
    pairs: Compilation, tmp_path: Path
) -> None:
    found = tuned(pairs, tmp_path)
    results = by_block(found)
    assert sorted(results) == [1, *BLOCKS]
    for result in results.values():
        assert result.status in ("ok", "hopeless")
        assert result.verified == "equal to the serial C"
        assert len(result.times_us) == (9 if result.status == "ok" else 1)
        assert result.leaf == 0
    with Store.open(tmp_path / "tuning.sqlite") as store:
        (winner,) = winners(store, pairs.plan.source_digest)
    right = {b: r.median_us for b, r in results.items() if r.median_us is not None}
    assert winner.median_us == min(right.values())
    assert right[dict(winner.parameters)["B"]] == winner.median_us
    assert (winner.function, winner.device, winner.sizes, winner.candidates) == (
        "pairs",
        "cpu",
        (("n", 1000),),
        4,
    )
    assert not list((tmp_path / "work").glob("*.reference")), "reference results are as large as the data"


def test_the_same_results_give_the_same_file(pairs: Compilation, tmp_path: Path) -> None:
    tuned(pairs, tmp_path)
    written: list[bytes] = []
    for name in ("one", "two"):
        with Store.open(tmp_path / "tuning.sqlite") as store:
            found = winners(store, pairs.plan.source_digest)
        place = write_winners(found, tmp_path / name, "pairs", "pairs.mf", pairs.plan.source_digest, "tool")
        assert sorted(p.name for p in place.parent.iterdir()) == ["pairs.tuned.json"]
        written.append(place.read_bytes())
    assert written[0] == written[1]
    document = json.loads(written[0])
    assert document["winners"][0]["sizes"] == {"n": 1000}
    assert document["winners"][0]["parameters"].keys() == {"B"}


def test_a_wrong_a_crashing_and_an_endless_candidate_cost_themselves_only(
    pairs: Compilation, tmp_path: Path
) -> None:
    faults = {
        2: "n -= 1;",
        4: "*reinterpret_cast<volatile int *>(8) = 1;",
        8: "for (;;) pause();",
        16: "_exit(0);",
        64: 'fputs("no memory left\\n", stderr); abort();',
    }
    found = tuned(
        pairs, tmp_path, blocks=(2, 4, 8, 16, 32, 64, 128), faults=faults, limits=Limits(candidate_s=2)
    )
    results = by_block(found)
    assert {b: r.status for b, r in results.items() if b in faults} == {
        2: "wrong",
        4: "crash",
        8: "hang",
        16: "crash",
        64: "crash",
    }
    assert "y[1998]" in results[2].reason
    assert "expected" in results[2].reason
    assert "SIGSEGV" in results[4].reason
    assert "2 s" in results[8].reason
    assert results[64].reason.endswith("SIGABRT: no memory left")
    assert all(results[b].times_us == () for b in faults)
    assert all(results[b].status in ("ok", "hopeless") for b in (1, 32, 128))


def test_a_candidate_that_the_launcher_refuses_is_told_with_amounts(
    pairs: Compilation, tmp_path: Path
) -> None:
    results = by_block(tuned(pairs, tmp_path, blocks=(32, 2048)))
    assert results[2048].status == "refused"
    assert results[2048].reason == "B <= T_B: needed 2048, available 1024"
    assert results[32].status == "ok"


def test_what_the_store_has_is_not_measured_again(pairs: Compilation, tmp_path: Path) -> None:
    (first,) = tuned(pairs, tmp_path, blocks=(32, 64))
    assert first.measured == 3
    lines: list[str] = []
    (second,) = tuned(pairs, tmp_path, blocks=(32, 64), lines=lines)
    assert second.measured == 0
    assert second.results == first.results
    assert not any("serial C" in line or "compiling" in line for line in lines)
    (third,) = tuned(pairs, tmp_path, blocks=(32, 64, 128))
    assert third.measured == 1
    assert set(by_block((second,)).items()) <= set(by_block((third,)).items())


def test_a_run_that_is_interrupted_keeps_what_it_has_and_goes_on(pairs: Compilation, tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if "B = 64: " in line:
            raise InterruptedError

    choices = Choices(domains={"B": [1, *BLOCKS]}, capped_leaves=0)
    with Store.open(tmp_path / "tuning.sqlite") as store, pytest.raises(InterruptedError):
        tune(pairs, OPTIONS, SIZES, [CPU], store, tmp_path / "work", choices, tell=stop)
    (resumed,) = tuned(pairs, tmp_path)
    assert sorted(by_block((resumed,))) == [1, *BLOCKS]
    assert 0 < resumed.measured < 4


def test_a_source_that_does_not_compile_is_told_with_what_the_compiler_says(
    pairs: Compilation, tmp_path: Path
) -> None:
    results = by_block(tuned(pairs, tmp_path, faults={32: "no_such_function();"}))
    assert {r.status for r in results.values()} == {"compile-error"}
    assert "no_such_function" in results[64].reason


def test_parameters_that_change_what_the_program_means_do_not_win(tmp_path: Path) -> None:
    # Blocks that do not divide n leave the rest as it is.
    floor = compiled(PAIRS.replace("(n + B - 1) / B", "n / B"))
    choices = Choices(domains={"B": [8, 32, 128]}, capped_leaves=0)
    with Store.open(tmp_path / "tuning.sqlite") as store:
        results = by_block(tune(floor, OPTIONS, SIZES, [CPU], store, tmp_path / "work", choices))
    assert {b: r.status for b, r in results.items() if b in (32, 128)} == {32: "other", 128: "other"}
    assert "B = 1" in results[32].reason
    assert results[8].status in ("ok", "hopeless")


def test_a_parameter_that_is_fixed_says_what_the_program_means(tmp_path: Path) -> None:
    floor = compiled(PAIRS.replace("(n + B - 1) / B", "n / B"))
    choices = Choices(domains={"B": [128]}, capped_leaves=0)
    with Store.open(tmp_path / "tuning.sqlite") as store:
        results = by_block(tune(floor, OPTIONS, SIZES, [CPU], store, tmp_path / "work", choices))
    assert {b: r.status for b, r in results.items()} == {128: "ok"}


@pytest.mark.slow
def test_a_candidate_that_is_much_slower_is_timed_once_and_told_as_such(
    pairs: Compilation, tmp_path: Path
) -> None:
    results = by_block(tuned(pairs, tmp_path, blocks=(32, 256), faults={256: "usleep(400000);"}))
    assert results[32].status == "ok"
    assert results[256].status == "hopeless"
    assert len(results[256].times_us) == 1
    assert results[256].times_us[0] >= 400_000
    assert results[256].verified == "equal to the serial C"


def test_two_devices_measure_at_the_same_time(pairs: Compilation, tmp_path: Path) -> None:
    # Each process waits for the other one: with one device the time would be over.
    (two,) = find_devices("cpu:2")
    meet = (
        f'char own[400], other[400]; snprintf(own, 400, "{tmp_path}/met%d", cf_chosen->B);'
        f'snprintf(other, 400, "{tmp_path}/met%d", 96 - cf_chosen->B); fclose(fopen(own, "w"));'
        "while (access(other, F_OK) != 0) usleep(1000);"
    )
    found = tuned(
        pairs,
        tmp_path,
        blocks=(32, 64),
        faults={32: meet, 64: meet},
        target=two,
        limits=Limits(candidate_s=30),
    )
    results = by_block(found)
    assert {results[32].status, results[64].status} <= {"ok", "hopeless"}
    assert {results[32].measured_on, results[64].measured_on} == {"cpu:0", "cpu:1"}


def test_where_the_serial_program_takes_too_long_candidates_are_compared_at_smaller_sizes(
    tmp_path: Path,
) -> None:
    text = "#include <unistd.h>\n" + PAIRS.replace("  int dim", "  if (n > 300) idle_wait();\n  int dim")
    text = text.replace("void pairs", "static void idle_wait(void) {}\nvoid pairs")
    program = compiled(text)
    # Only the serial program waits: the text that it is made from is another one.
    slow = text.replace("idle_wait(void) {}", "idle_wait(void) { sleep(60); }")
    source = replace(program.program.file, text=slow)
    program = replace(program, program=replace(program.program, file=source))
    found = tuned(program, tmp_path, faults={64: "if (n > 300) n -= 1;"}, limits=Limits(reference_s=3))
    results = by_block(found)
    assert "equal to the serial C at n = 250" in results[32].verified
    assert "did not end within 3 s" in results[32].verified
    assert results[64].status == "wrong"
    assert "the launcher's own choice" in results[64].reason


def test_without_a_reference_nothing_is_timed(tmp_path: Path) -> None:
    text = "#include <stdlib.h>\n" + PAIRS.replace("  int dim", "  if (n > 300) idle_end();\n  int dim")
    text = text.replace("void pairs", "static void idle_end(void) {}\nvoid pairs")
    program = compiled(text)
    source = replace(
        program.program.file, text=text.replace("idle_end(void) {}", "idle_end(void) { abort(); }")
    )
    program = replace(program, program=replace(program.program, file=source))
    results = by_block(tuned(program, tmp_path))
    assert {r.status for r in results.values()} == {"unverified"}
    assert "status -6" in results[32].reason
    with Store.open(tmp_path / "tuning.sqlite") as store:
        assert winners(store, program.plan.source_digest) == ()


@pytest.mark.slow
def test_a_worker_process_that_dies_costs_its_candidate_only(pairs: Compilation, tmp_path: Path) -> None:
    pool = Pool(lambda: ProcessPoolExecutor(2), 2)
    found = tuned(
        pairs,
        tmp_path,
        blocks=(32, 64, 128, 256),
        faults={64: "kill(getppid(), SIGKILL); pause();"},
        pool=pool,
    )
    results = by_block(found)
    assert results[64].status == "lost"
    assert "2 workers" in results[64].reason
    assert all(results[b].status in ("ok", "hopeless") for b in (1, 32, 128, 256))


def test_a_lost_candidate_is_tried_again_by_the_next_run(pairs: Compilation, tmp_path: Path) -> None:
    # The first two processes that measure it end the one that has started them.
    once = (
        f'char mark[400]; for (int k = 0; k < 2; k++) {{ snprintf(mark, 400, "{tmp_path}/lost%d", k);'
        'if (access(mark, F_OK) != 0) { fclose(fopen(mark, "w")); kill(getppid(), SIGKILL); pause(); } }'
    )
    pool = Pool(lambda: ProcessPoolExecutor(1), 1)
    first = by_block(tuned(pairs, tmp_path, faults={64: once}, pool=pool))
    assert first[64].status == "lost"
    (second,) = tuned(pairs, tmp_path, faults={64: once}, pool=pool)
    assert by_block((second,))[64].status in ("ok", "hopeless")
    assert second.measured == 1


def test_on_a_processor_nothing_is_tried_with_passes(pairs: Compilation, tmp_path: Path) -> None:
    choices = Choices(domains={"B": [1, 256]}, capped_leaves=1, pipelines=("dce",))
    with Store.open(tmp_path / "tuning.sqlite") as store:
        (found,) = tune(pairs, OPTIONS, SIZES, [CPU], store, tmp_path / "work", choices)
    assert {r.candidate.pipeline for r in found.results} == {""}


@pytest.mark.slow
def test_the_order_of_the_caller_decides_what_is_measured(pairs: Compilation, tmp_path: Path) -> None:
    choices = Choices(order=lambda every: sorted(every, key=lambda c: c.parameters), top=2, capped_leaves=0)
    with Store.open(tmp_path / "tuning.sqlite") as store:
        (found,) = tune(pairs, OPTIONS, SIZES, [CPU], store, tmp_path / "work", choices)
    assert list(by_block((found,))) == [32, 64]


@pytest.mark.parametrize(
    ("sizes", "code"), [({"n": 2_000_000_000}, "CF0902"), ({"n": 1 << 30}, "CF0902")], ids=["2e9", "2^30"]
)
def test_sizes_that_host_code_cannot_compute_with_are_refused(
    pairs: Compilation, tmp_path: Path, sizes: Mapping[str, int], code: str
) -> None:
    with pytest.raises(CommandLineError) as refused:
        tuned(pairs, tmp_path, sizes=[sizes])
    assert refused.value.diagnostics[0].code == code


def test_measuring_processes_end_with_the_run(pairs: Compilation, tmp_path: Path) -> None:
    tell = f'FILE *f = fopen("{tmp_path}/pid", "w"); fprintf(f, "%d", getpid()); fclose(f);'
    tuned(pairs, tmp_path, faults={32: tell})
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
