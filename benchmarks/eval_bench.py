"""How fast `agentworld eval bench` is beside a client that asks one thing after the other, on the same rows.

    python benchmarks/eval_bench.py [--turns 128] [--latency 0.5] [--concurrency 256]
    python benchmarks/eval_bench.py --url http://localhost:8000/v1 [--turns 128]

A server process on loopback answers every request after the same time: a prediction, and a verdict for the judge. The
sequential client is written from the protocol alone: it reads the rows as JSON, builds the messages, and waits for each
answer before it asks again. Both send to the same server, which hands back the messages it saw. The exit status tells
whether the run is at least 20 times as fast, with the same messages.

With `--url` both use a real server instead, such as vLLM with the bundled model (`agentworld serve tiny` says how), on
compact rows of the terminal, greedily and without a judge; then only time is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from aiohttp import web

from agentworld_gym.contracts import Sampling
from agentworld_gym.engines.catalog import ENGINES
from agentworld_gym.evaluation.bench import Bench, Model
from agentworld_gym.evaluation.judging import Judge, judge_messages
from agentworld_gym.evaluation.rows import BenchRows
from agentworld_gym.generators import ServerGenerator
from agentworld_gym.parsing import NO_OUTPUT, parse_completion, parse_judgement
from agentworld_gym.recipe.config import CollectConfig
from agentworld_gym.recipe.recorder import Recorder
from agentworld_gym.spec import load_spec

TARGET = 20.0
SAID = (
    "<predicted_observation>\nls\nnotes.txt\nuser@host:~$\n</predicted_observation>\n"
    '<final_evaluation>{"scores": {"format": 4, "factuality": 3}}</final_evaluation>'
)


def serve(pipe: Any, latency: float) -> None:
    """The server process; at /taken it gives the messages since it was last asked."""
    taken: list[bytes] = []
    choice = {"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}
    said = orjson.dumps({"choices": [choice], "usage": {"prompt_tokens": 900, "completion_tokens": 40}})

    async def chat(request: web.Request) -> web.Response:
        taken.append(orjson.dumps(orjson.loads(await request.read())["messages"]))
        await asyncio.sleep(latency)
        return web.Response(body=said, content_type="application/json")

    async def give(request: web.Request) -> web.Response:
        messages = b"\n".join(sorted(taken))
        taken.clear()
        return web.Response(body=messages)

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "stub"}]})

    async def main() -> None:
        app = web.Application(client_max_size=1 << 30)
        app.add_routes([web.post("/v1/chat/completions", chat), web.get("/v1/models", models), web.get("/taken", give)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
        pipe.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(main())


@contextlib.contextmanager
def server(latency: float) -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, latency), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{ours.recv()}/v1"
    process.terminate()


def record(path: Path, turns: int, small: bool) -> None:
    """Rows as the benchmark has them, one for each turn: of all domains, or of the terminal for a small model."""
    specs = [load_spec(domain) for domain in (["terminal"] if small else ENGINES)]
    config = CollectConfig(max_turns=8, profile="compact" if small else "full")
    recorder = Recorder(specs, config, seed=0, split="test")
    with path.open("wb") as file:
        number = count = 0
        while count < turns:
            row = recorder.row(number)
            number += 1
            for turn in list(row.turns() if row else ())[: turns - count]:
                file.write(orjson.dumps(turn.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE))
                count += 1


class Sequential:
    """One connection, one request at a time."""

    def __init__(self, url: str, model: str, sampling: Sampling) -> None:
        self.address = urlsplit(url)
        self.connection = http.client.HTTPConnection(self.address.netloc)
        self.fields = {"model": model, "temperature": sampling.temperature, "max_tokens": sampling.max_tokens}

    def ask(self, messages: list[dict[str, str]]) -> str:
        body = json.dumps({**self.fields, "messages": messages}, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        self.connection.request("POST", f"{self.address.path}/chat/completions", body, headers)
        answer = json.loads(self.connection.getresponse().read())
        return str(answer["choices"][0]["message"]["content"] or "")

    def run(self, path: Path, judged: bool) -> None:
        rows = BenchRows((path,))
        for line, known in zip(path.read_bytes().split(b"\n"), rows, strict=False):
            row = json.loads(line)
            messages = [{"role": "system", "content": row["system_str"]}]
            for turn in range(row["turn_idx"] - 1):
                messages.append({"role": "user", "content": row["prompt"][turn]})
                messages.append({"role": "assistant", "content": row["response"][turn]})
            messages.append({"role": "user", "content": row["prompt"][row["turn_idx"] - 1]})
            prediction = parse_completion(self.ask(messages)) or NO_OUTPUT
            if judged:
                verdict = self.ask([dict(message) for message in judge_messages(known, prediction)])
                assert parse_judgement(verdict) is not None


def taken(url: str) -> bytes:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("GET", "/taken")
    return connection.getresponse().read()


def timed(url: str, path: Path, out: Path, options: argparse.Namespace, judged: bool) -> tuple[float, float]:
    """Seconds of the sequential client and of the benchmark's run, aggregation included."""
    # vLLM on a CPU refuses seeds.
    generator = ServerGenerator(url, concurrency=options.concurrency, extra_body={"seed": None})
    generator.describe()
    sampling = Sampling(temperature=0.0, max_tokens=200) if options.url else Sampling(max_tokens=32768)
    started, computed = time.perf_counter(), time.process_time()
    judge = Judge(generator, sampling, handle=url) if judged else None
    bench = Bench(BenchRows((path,)), Model(generator, sampling, url), judge, out, concurrency=options.concurrency)
    result = bench.run()
    bench.close()
    ours, computed = time.perf_counter() - started, time.process_time() - computed
    generator.close()
    print(f"agentworld eval bench computed for {computed:.2f} of {ours:.2f} s")
    assert not result.rows.failures and (result.judged is None or not result.judged.failures)
    mine = b"" if options.url else taken(url)
    model = result.model.parts["model"]["value"]
    started = time.perf_counter()
    Sequential(url, str(model), sampling).run(path, judged)
    sequential = time.perf_counter() - started
    if not options.url:
        theirs = taken(url)
        requests = mine.count(b"\n") + 1
        print(
            f"messages of {requests} requests, {len(mine) / 1e6:.1f} MB: {'identical' if mine == theirs else 'DIFFER'}"
        )
        if mine != theirs:
            return sequential, float("inf")
    return sequential, ours


def main() -> int:
    parser = argparse.ArgumentParser(description="The benchmark's run beside a sequential client.")
    parser.add_argument("--turns", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--url", help="a real server instead of the one with a fixed latency; no judge then")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(folder) / "rows.jsonl"
        record(path, options.turns, small=options.url is not None)
        url = options.url or stack.enter_context(server(options.latency))
        sequential, ours = timed(url, path, Path(folder) / "run", options, judged=not options.url)
    print("\n| | seconds | turns/s |\n|---|---|---|")
    for name, seconds in (("one after the other", sequential), ("agentworld eval bench", ours)):
        print(f"| {name} | {seconds:.2f} | {options.turns / seconds:.1f} |")
    print(f"\n{sequential / ours:.1f} times as fast (target {TARGET:.0f})")
    return 0 if sequential / ours >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
