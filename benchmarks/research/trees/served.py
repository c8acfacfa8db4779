"""What goes over the wire to a server: rollouts, predictions with a judge, and thinking that a judge picks.

The server runs in this process and answers by the request alone. Requests overlap, so their bodies are kept sorted. The
address is part of what some commands write, so both trees use the same port, one after the other.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from trees.commands import rollout, run
from trees.sizes import Size

PORT = "TWO_TREES_PORT"
"""The environment variable that names the port."""

SCORES = re.compile(r'"scores": \{([^}]*)\}')
"""Where a judge is told what to score; each N is a score."""


class Answers(BaseHTTPRequestHandler):
    """As much of the OpenAI chat protocol as the package needs."""

    protocol_version = "HTTP/1.1"
    bodies: list[str]
    prepared: Mapping[str, str]

    def do_GET(self) -> None:
        """Tell which models there are."""
        self._send({"data": [{"id": "two-trees"}]})

    def do_POST(self) -> None:
        """Keep the body, and answer with a prediction or a verdict."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.bodies.append(body)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": said(body, self.prepared)},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 9, "total_tokens": len(body) // 4 + 9}
        self._send({"choices": [choice], "usage": usage})

    def _send(self, data: object) -> None:
        text = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def said(body: str, prepared: Mapping[str, str]) -> str:
    """What the server's model writes: a verdict where it is asked for one, else a prediction with thinking.

    Args:
        body: the request.
        prepared: the completion for some last messages; others get a digest of the request.
    """
    contents = [message["content"] for message in json.loads(body)["messages"]]
    scores = SCORES.search("".join(contents))
    if scores:
        values = scores[1].replace("N", "4")
        return f'<final_evaluation>{{"strengths": "a", "weaknesses": "b", "scores": {{{values}}}}}</final_evaluation>'
    digest = hashlib.sha256(body.encode()).hexdigest()
    predicted = prepared.get(contents[-1], f"<predicted_observation>\n{digest}\n</predicted_observation>")
    return f"<think>\nIt is {digest[:8]}.\n</think>\n{predicted}"


def _prepared() -> dict[str, str]:
    """The completion of each sample by its last request, whatever the wording of the system message."""
    found = {}
    with open("samples/full-full-turn.jsonl", encoding="utf-8") as file:
        for line in file:
            *_, request, answer = json.loads(line)["messages"]
            found[request["content"]] = answer["content"]
    return found


@contextmanager
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the bodies that it was sent."""
    handler = type("Answering", (Answers,), {"bodies": [], "prepared": _prepared()})
    listening = ThreadingHTTPServer(("127.0.0.1", int(os.environ[PORT])), handler)
    Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{os.environ[PORT]}/v1", handler.bodies
    listening.shutdown()
    listening.server_close()


def ask(size: Size) -> None:
    """Run what asks a server; `served/NAME.txt` has the bodies of its requests."""
    Path("served").mkdir()
    count = str(size.dreamt)
    with server() as (url, bodies):
        for domain in size.domains:
            common = ("--policy", "menu", "--world", url, "-n", count, "--sampling", "temperature=0.5")
            rollout(f"served/{domain}", domain, *common)
            _keep(domain, bodies)
        rows = "rows/train.jsonl"
        common = ("--model", url, "--judge", url, "--turns", "drawn", "--out", "eval/served", "--limit", count)
        run("bench_served", "eval", "bench", rows, *common)
        _sort(Path("eval/served/rows.jsonl"))
        _keep("bench", bodies)
        common = ("--generator", url, "--judge", url, "--stage", "all", "--limit", "4")
        run("think_reject", "think", "reject", rows, "--out", "thinking/picked.jsonl", *common)
        _keep("reject", bodies)


def _sort(path: Path) -> None:
    """Put the lines of a file in order, because they are written as answers come."""
    path.write_text("".join(sorted(path.read_text(encoding="utf-8").splitlines(keepends=True))), encoding="utf-8")


def _keep(name: str, bodies: list[str]) -> None:
    Path(f"served/{name}.txt").write_text("".join(f"{body}\n" for body in sorted(bodies)), encoding="utf-8")
    bodies.clear()
