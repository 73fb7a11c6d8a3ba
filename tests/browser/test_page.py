"""The page in a browser: by mouse and by keyboard, light, dark and printed, and never a word on the console."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from comprehensive.interactive_report.assemble import page_of, to_html
from tests.browser.chromium import NAMES, Chromium, PageError, found_browser
from tests.browser.programs import awkward, device, expected, page, points


@pytest.fixture(scope="module")
def started() -> Iterator[Chromium]:
    executable = found_browser()
    if executable is None:
        pytest.skip(f"needs a browser: none of {', '.join(NAMES)} is on PATH")
    with Chromium(executable) as browser:
        browser.resize(1440, 1000)
        yield browser


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "jacobi1d.html"
    path.write_text(page(), encoding="utf-8")
    return path


@pytest.fixture
def browser(started: Chromium, file: Path) -> Iterator[Chromium]:
    """The page of jacobi1d, just opened; no test may leave a problem behind."""
    started.media()
    started.problems.clear()
    started.open(file.as_uri())
    yield started
    assert started.problems == []


def typed(name: str, value: object) -> str:
    """Code that types a value into the field of a slider."""
    return (
        f"(() => {{ const field = document.querySelector('[data-control=\"{name}\"] .number');"
        f" field.value = {json.dumps(str(value))}; field.dispatchEvent(new Event('input')); }})()"
    )


def text(browser: Chromium, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).innerText")


def changes(browser: Chromium, name: str) -> str:
    """Return the text below a slider, as soon as it is up to date."""
    browser.run(
        """new Promise((done) => {
          const look = () => (document.querySelector("[aria-busy=true]") ? setTimeout(look, 10) : done());
          look();
        })"""
    )
    return text(browser, f"[data-control={name}] .changes")


def focused(browser: Chromium) -> str:
    return browser.run("document.activeElement.id")


# --- sliders


def test_sliders_choose_what_explain_says_at_many_points(browser: Chromium) -> None:
    found: list[str] = browser.run(
        f"""(async () => {{
          const found = [], frame = () => new Promise((r) => requestAnimationFrame(() => r()));
          const type = (name, value) => {{
            const field = document.querySelector(`[data-control="${{name}}"] .number`);
            field.value = String(value);
            field.dispatchEvent(new Event("input"));
          }};
          for (const [s, B] of {json.dumps(points())}) {{
            type("s", s);
            type("B", B);
            await frame();
            found.push(document.querySelector("[data-region]").dataset.found);
          }}
          return found;
        }})()"""
    )
    assert tuple(each if each.startswith(("leaf", "dead")) else f"{each} 0" for each in found) == expected()


def test_the_range_moves_leaf_occupancy_and_thresholds(browser: Chromium) -> None:
    assert text(browser, ".verdict") == "leaf 0 runs"
    assert "Occupancy 100 %" in text(browser, ".occupancy")
    assert "s = 114 leaf 0 → leaf 2" in changes(browser, "s")
    browser.run("document.querySelector('[data-control=s] .range').focus()")
    browser.press("End")
    assert browser.run("document.querySelector('[data-control=s] .number').value") == "2048"
    assert text(browser, ".verdict") == "leaf 2 runs"
    assert "B = 15 leaf 0 → leaf 2" in changes(browser, "B")
    browser.click(".reset")
    assert text(browser, ".verdict") == "leaf 0 runs"


def test_a_tile_that_the_launcher_takes_instead_is_named(browser: Chromium) -> None:
    taken = text(browser, ".candidate.taken summary")
    assert "time tile" in taken
    name = taken.split(",")[0].strip()
    assert f"The launcher takes {name} in its place" in text(browser, ".instead")
    browser.click(".limits summary")
    browser.run(typed("Z_B", 400))
    browser.settle()
    assert text(browser, ".instead") == ""


def test_limits_of_the_device_can_be_moved(browser: Chromium) -> None:
    browser.click(".limits summary")
    browser.run(typed("Z_B", 400))
    browser.settle()
    assert text(browser, ".verdict") == "leaf 3 runs"
    assert "Not evaluated at this point: limits of the device were moved" in text(browser, ".model")


@pytest.mark.parametrize("value", ["", "x", "-1", "1.5", "0", "99999999999999999999", "1e3"])
def test_what_is_no_value_is_refused_and_the_last_one_counts(browser: Chromium, value: str) -> None:
    browser.run(typed("B", value))
    browser.settle()
    assert (
        text(browser, "[data-control=B] .problem") == "an integer from 1 to 2048 is wanted; 256 still counts"
    )
    assert (
        browser.run("document.querySelector('[data-control=B] .number').getAttribute('aria-invalid')")
        == "true"
    )
    assert text(browser, ".verdict") == "leaf 0 runs"


def test_where_no_variant_fits_the_page_says_which_limit_is_exceeded(browser: Chromium) -> None:
    browser.run(typed("B", 1500))
    browser.settle()
    assert text(browser, ".verdict") == "no variant fits dead end 3, where T_B < B"
    assert text(browser, ".occupancy") == ""
    browser.click(".others summary")
    assert "B <= T_B is 1\u2009500 <= 1\u2009024" in text(browser, ".cases")


def test_bars_are_there_where_the_model_was_evaluated_and_nowhere_else(browser: Chromium) -> None:
    assert browser.run("document.querySelectorAll('.model .candidate').length") == 4
    assert browser.run("document.querySelectorAll('.model .taken .bound .decides').length") == 1
    browser.run(typed("B", 128))
    browser.settle()
    assert "leaf 0" in text(browser, ".model")
    browser.run(typed("s", 8))
    browser.settle()
    assert "more than one slider was moved" in text(browser, ".model")
    browser.click(".model button")
    assert browser.run("document.querySelectorAll('.model .candidate').length") == 4


def test_the_plane_marks_the_point_of_the_sliders(browser: Chromium) -> None:
    where = "['cx', 'cy'].map((name) => Number(document.querySelector('.dot').getAttribute(name)))"
    before = browser.run(where)
    browser.run(typed("B", 512))
    browser.settle()
    after = browser.run(where)
    assert after[0] == before[0]
    assert after[1] < before[1]
    assert "The ring is where the sliders are." in text(browser, ".here")


# --- the tree


def test_a_click_on_a_node_shows_its_quintuple(browser: Chromium) -> None:
    browser.click(".node.dead-end .title strong")
    shown = text(browser, ".quintuple")
    for part in (
        "dead end 0",
        "C what holds here",
        "γ counters that wait",
        "λ strategies applied",
        "ω strategies left",
    ):
        assert part in shown
    assert "meta_schedule cache(a)" in shown


def test_dead_branches_show_their_contradiction_and_can_be_hidden(browser: Chromium) -> None:
    shown = (
        "[...document.querySelectorAll('.pruned > .row')].filter((row) => row.getClientRects().length).length"
    )
    assert "contradict each other" in text(browser, ".pruned")
    assert browser.run(shown) > 10
    browser.click("[data-tree=dead]")
    assert browser.run(shown) == 0


def test_the_tree_folds_and_moves_by_keyboard(browser: Chromium) -> None:
    browser.run("document.querySelector('[role=treeitem]').focus()")
    root = focused(browser)
    browser.press("ArrowDown")
    child = focused(browser)
    assert child != root
    browser.press("ArrowLeft")
    assert browser.run(f"document.getElementById('{child}').getAttribute('aria-expanded')") == "false"
    browser.press("ArrowLeft")
    assert focused(browser) == root
    browser.press("ArrowRight")
    assert focused(browser) == child
    browser.press("ArrowRight")
    assert browser.run(f"document.getElementById('{child}').getAttribute('aria-expanded')") == "true"
    browser.press("End")
    last = focused(browser)
    assert browser.run(f"document.getElementById('{last}').getAttribute('aria-selected')") == "true"
    browser.press("Home")
    assert focused(browser) == root
    assert browser.run("document.querySelectorAll('.tree [tabindex=\"0\"]').length") == 3, "one for each tree"


def test_the_path_to_what_runs_is_marked(browser: Chromium) -> None:
    marked = "[...document.querySelectorAll('.on-path > .row strong')].map((each) => each.innerText)"
    assert browser.run(marked)[-1] == "leaf 0"
    browser.run(typed("B", 1500))
    browser.settle()
    assert browser.run(marked) == ["threads_per_block = B", "dead end 3"]


# --- leaves


def test_lines_of_source_and_kernel_are_linked_both_ways(browser: Chromium) -> None:
    lit = "[...document.querySelectorAll('{} .lit')].map((line) => line.innerText.trim())"
    browser.click(".source-pane [data-line='20']")
    kernel = browser.run(lit.format(".leaf.shown"))
    assert kernel
    assert all("shared_a" in line for line in kernel)
    browser.click(".leaf.shown [data-source='22']")
    assert browser.run(lit.format(".source-pane")) == ["a[np1] = (a[p] + a[p1] + a[p2]) / 3;"]
    browser.run("document.querySelector('.source-pane .code').focus()")
    browser.press("ArrowUp", "ArrowUp")
    assert browser.run(lit.format(".source-pane")) == ["a[p1] = (a[np] + a[np1] + a[np2]) / 3;"]
    assert browser.run(lit.format(".leaf.shown")) == kernel


def test_tabs_show_leaves_one_at_a_time_with_what_differs_from_the_parent(browser: Chromium) -> None:
    browser.run("document.querySelector('[role=tab]').focus()")
    browser.press("ArrowRight")
    assert focused(browser) == "jacobi1d-leaf-1-tab"
    assert browser.run("document.querySelectorAll('.leaf.shown').length") == 1
    browser.click(".leaf.shown .difference summary")
    assert "-     int s," in text(browser, ".leaf.shown .diff")
    assert (
        browser.run("getComputedStyle(document.querySelector('.diff .gone')).backgroundColor")
        != "rgba(0, 0, 0, 0)"
    )
    browser.click("#jacobi1d-leaf-3-tab")
    browser.click(".leaf.shown [data-leaf]")
    assert focused(browser) == "jacobi1d-leaf-2-tab"


def test_a_leaf_that_shares_a_kernel_shows_it_too(browser: Chromium) -> None:
    browser.click("#jacobi1d-leaf-2-tab")
    assert "jacobi1d_leaf1" in text(browser, ".leaf.shown .code")
    browser.click(".leaf.shown .code [data-source='20']")
    assert browser.run("document.querySelectorAll('.source-pane .lit').length") == 1


# --- how it looks


def test_it_is_dark_where_that_is_preferred(browser: Chromium) -> None:
    light = "getComputedStyle(document.body).backgroundColor"
    before = browser.run(light)
    browser.media(prefers_color_scheme="dark")
    assert browser.run(light) != before


@pytest.mark.parametrize("width", [360, 800, 1440])
def test_nothing_is_wider_than_the_window(browser: Chromium, width: int) -> None:
    browser.resize(width, 900)
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.resize(1440, 1000)


def test_it_prints_everything_that_is_folded(browser: Chromium) -> None:
    browser.click("[data-tree=fold]")
    printed = base64.b64decode(browser.send("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF")
    assert (
        printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") + printed.count(b"/Type /Page/") > 2
    )
    browser.media(medium="print")
    assert browser.run(
        "[...document.querySelectorAll('.leaf[role]')].every((leaf) => leaf.getClientRects().length)"
    )
    assert browser.run("document.querySelector('.node.pruned > .row').getClientRects().length") == 1
    assert browser.run("document.querySelector('.tabs').getClientRects().length") == 0
    assert browser.run("document.querySelector('details.limits').open") is False, "as it was before printing"


def test_every_control_has_a_name_and_can_be_reached(browser: Chromium) -> None:
    nameless = browser.run(
        """[...document.querySelectorAll("button, input, [role]")].filter((each) => each.matches("input")
          ? !each.labels.length && !each.ariaLabel
          : ["tree", "tablist", "listbox"].includes(each.role) && !each.ariaLabel)
          .map((each) => each.outerHTML)"""
    )
    assert nameless == []
    reached = set[str]()
    browser.run("document.querySelector('.skip').focus()")
    for _ in range(60):
        browser.press("Tab")
        reached.add(browser.run("document.activeElement.className || document.activeElement.tagName"))
    for wanted in ("number", "range", "reset", "quintuple", "code"):
        assert any(wanted in each for each in reached), wanted


# --- bad company


def test_markup_and_words_of_javascript_in_a_program_stay_what_they_are(
    started: Chromium, tmp_path: Path
) -> None:
    target = tmp_path / "awkward.html"
    target.write_text(to_html(page_of(awkward(tmp_path), device(), {"in": 5000})), encoding="utf-8")
    started.problems.clear()
    started.open(target.as_uri())
    assert text(started, ".verdict") == "leaf 0 runs"
    started.run(typed("B", 33))
    started.settle()
    assert text(started, ".verdict") == "the call is refused B % 32 == 0 && in < 100000 does not hold"
    assert "changes in all" in changes(started, "B")
    assert '// "</script>"' in text(started, ".source-pane")
    assert started.problems == []


def test_a_page_with_an_error_would_be_noticed(started: Chromium, tmp_path: Path) -> None:
    target = tmp_path / "wrong.html"
    target.write_text(
        "<!doctype html><link rel=icon href='data:,'><img src='http://127.0.0.1:9/'>"
        "<script>console.error('said'); setTimeout(() => { throw new Error('thrown'); })</script>"
    )
    started.problems.clear()
    started.open(target.as_uri())
    started.run("new Promise((r) => setTimeout(r, 50))")
    told = " ".join(started.problems)
    assert "said" in told
    assert "thrown" in told
    assert "asked for http://127.0.0.1:9/" in told
    with pytest.raises(PageError, match="nothing"):
        started.run("nothing.there")
