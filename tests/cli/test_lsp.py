"""Editors talk to the real server over stdio."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra lsp is not installed")

URI = "file:///smooth.mf"
TEXT = """void smooth(int n, const float x[n], float y[n], int B)
{
  meta_schedule block(B) cache(x) {
    meta_for (int i = 1; i < n - 1; i++)
      y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
  }
}
"""


class Editor:
    """A client: sends messages and waits for answers."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "comprehensive", "lsp"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def notify(self, method: str, **given: Any) -> None:
        self._send({"method": method, "params": given})

    def ask(self, method: str, **given: Any) -> Any:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": given})
        while (answer := self.read()).get("id") != self.number:
            pass
        return answer["result"]

    def published(self) -> list[dict[str, Any]]:
        while (answer := self.read()).get("method") != "textDocument/publishDiagnostics":
            pass
        return answer["params"]["diagnostics"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            assert line or self.process.poll() is None, "the server has ended"
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    client = Editor()
    client.ask("initialize", processId=None, rootUri=None, capabilities={})
    client.notify("initialized")
    client.notify(
        "textDocument/didOpen",
        textDocument={"uri": URI, "languageId": "c", "version": 1, "text": TEXT},
    )
    assert client.published() == []
    yield client
    client.ask("shutdown")
    client.notify("exit")
    assert client.process.wait(60) == 0
    for stream in (client.process.stdin, client.process.stdout):
        assert stream is not None
        stream.close()


def change(editor: Editor, text: str) -> list[dict[str, Any]]:
    editor.notify(
        "textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": text}]
    )
    return editor.published()


def hovered(editor: Editor, word: str) -> str:
    before = TEXT[: TEXT.index(word)]
    position = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
    found = editor.ask("textDocument/hover", textDocument={"uri": URI}, position=position)
    return found["contents"]["value"]


def test_an_error_has_its_place_code_help_and_notes(editor: Editor) -> None:
    (found,) = change(editor, TEXT.replace("x[i + 1]", "y[i + 1]"))
    assert (found["code"], found["severity"], found["source"]) == ("CF0401", 1, "comprehensive")
    assert found["range"]["start"]["line"] in (3, 4)
    assert "help: " in found["message"]
    assert found["relatedInformation"]
    assert change(editor, TEXT) == []


def test_a_misspelt_word_is_corrected_by_a_code_action(editor: Editor) -> None:
    (found,) = change(editor, TEXT.replace("meta_for", "meta_fro"))
    assert found["code"] == "CF0128"
    (action,) = editor.ask(
        "textDocument/codeAction",
        textDocument={"uri": URI},
        range=found["range"],
        context={"diagnostics": [found]},
    )
    assert action["edit"]["changes"][URI] == [{"range": found["range"], "newText": "meta_for"}]
    assert change(editor, TEXT) == []


def offered(editor: Editor, text: str, code: str) -> list[dict[str, Any]]:
    """Return the quick fixes at the place of the only diagnostic of a text, which has this code."""
    (found,) = change(editor, text)
    assert found["code"] == code
    return editor.ask(
        "textDocument/codeAction",
        textDocument={"uri": URI},
        range=found["range"],
        context={"diagnostics": [found]},
    )


def test_a_code_action_may_have_several_edits(editor: Editor) -> None:
    text = TEXT.replace("x[i + 1]", "x[i + 1.0f]")
    (action,) = offered(editor, text, "CF0212")
    assert (action["title"], action["kind"], action["isPreferred"]) == (
        "cast it: (int)(...)",
        "quickfix",
        True,
    )
    lines = text.splitlines()
    for edit in reversed(action["edit"]["changes"][URI]):
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start == end
        line = lines[start["line"]]
        lines[start["line"]] = line[: start["character"]] + edit["newText"] + line[start["character"] :]
    assert "x[(int)(i + 1.0f)]" in "\n".join(lines)
    # A subscript that is no polynomial cannot be cached.
    assert [each["code"] for each in change(editor, "\n".join(lines))] == ["CF0412"]


def test_a_missing_semicolon_and_a_misspelt_name_are_offered_and_others_are_not(editor: Editor) -> None:
    (action,) = offered(editor, TEXT.replace("3.0f;", "3.0f"), "CF0111")
    ((edit,),) = action["edit"]["changes"].values()
    assert edit["newText"] == ";"
    renamed = (
        TEXT.replace("int n,", "int number,").replace("[n]", "[number]").replace("i < n -", "i < numbr -")
    )
    (action,) = offered(editor, renamed, "CF0201")
    assert action["title"] == "write 'number'"
    assert offered(editor, TEXT.replace("x[i + 1]", "x[whatever]"), "CF0201") == []
    assert change(editor, TEXT) == []


def test_hover_tells_roles_footprints_and_decisions(editor: Editor) -> None:
    assert change(editor, TEXT) == []
    assert "program parameter" in hovered(editor, "B)")
    assert "data parameter" in hovered(editor, "n,")
    assert "`B + 2` elements" in hovered(editor, "x[n]")
    assert "leaf 0 where" in hovered(editor, "meta_schedule")
