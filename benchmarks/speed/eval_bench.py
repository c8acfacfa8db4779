"""How fast `agentworld eval bench` is beside a client that asks one thing after the other, on the same rows.

    python benchmarks/speed/eval_bench.py [--turns 128] [--latency 0.5] [--concurrency 256]
    python benchmarks/speed/eval_bench.py --url http://localhost:8000/v1 [--turns 128]

A server process on loopback answers every request after the same time: a prediction, and a verdict for the judge. The
sequential client is written from the protocol alone: it reads the rows as JSON, builds the messages, and waits for each
answer before it asks again. Both send to the same server, which hands back what it saw. The exit status tells
whether the run is at least 20 times as fast, with the same messages.

With `--url` both use a real server instead, such as vLLM with a bundled model (`agentworld serve tiny-search`), on
compact rows of the terminal, greedily and without a judge; then only time is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import stub

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.evaluation.bench.runner import BenchRun, Model
from agentworld_gym.llm.generators import ServerGenerator
from agentworld_gym.llm.judging.bench_rows import BenchRows
from agentworld_gym.llm.judging.judge import Judge, judge_messages
from agentworld_gym.llm.prompting.parsing import NO_OUTPUT, parse_completion, parse_judgement

TARGET = 20.0
SAID = (
    "<predicted_observation>\nls\nnotes.txt\nuser@host:~$\n</predicted_observation>\n"
    '<final_evaluation>{"scores": {"format": 4, "factuality": 3}}</final_evaluation>'
)


def record(path: Path, turns: int, small: bool) -> None:
    """Rows as the benchmark has them, one for each turn: of all domains, or of the terminal for a small model."""
    specs = [load_spec(domain) for domain in (["terminal"] if small else engine_names())]
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


def messages_sent(base: str) -> list[bytes]:
    """The messages of all requests since the last call, in an order of their own."""
    return sorted(orjson.dumps(orjson.loads(body)["messages"]) for body in stub.taken(base))


def timed(base: str | None, path: Path, out: Path, options: argparse.Namespace) -> tuple[float, float]:
    """Seconds of the sequential client and of the benchmark's run, aggregation included.

    With the server at `base` predictions are judged and messages compared; None takes the real one.
    """
    url = options.url if base is None else f"{base}/v1"
    # vLLM on a CPU refuses seeds.
    generator = ServerGenerator(url, concurrency=options.concurrency, extra_body={"seed": None})
    generator.describe()
    sampling = Sampling(temperature=0.0, max_tokens=200) if options.url else Sampling(max_tokens=32768)
    started, computed = time.perf_counter(), time.process_time()
    judge = None if base is None else Judge(generator, sampling, handle=url)
    bench = BenchRun(BenchRows((path,)), Model(generator, sampling, url), judge, out, concurrency=options.concurrency)
    result = bench.run()
    bench.close()
    ours, computed = time.perf_counter() - started, time.process_time() - computed
    generator.close()
    print(f"agentworld eval bench computed for {computed:.2f} of {ours:.2f} s")
    assert not result.rows.failures and (result.judged is None or not result.judged.failures)
    mine = [] if base is None else messages_sent(base)
    model = result.model.parts["model"]["value"]
    started = time.perf_counter()
    Sequential(url, str(model), sampling).run(path, judged=base is not None)
    sequential = time.perf_counter() - started
    if base is not None:
        same = mine == messages_sent(base)
        size = sum(map(len, mine)) / 1e6
        print(f"messages of {len(mine)} requests, {size:.1f} MB: {'identical' if same else 'DIFFER'}")
        if not same:
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
        base = None if options.url else stack.enter_context(stub.server(options.latency, SAID))
        sequential, ours = timed(base, path, Path(folder) / "run", options)
    print("\n| | seconds | turns/s |\n|---|---|---|")
    for name, seconds in (("one after the other", sequential), ("agentworld eval bench", ours)):
        print(f"| {name} | {seconds:.2f} | {options.turns / seconds:.1f} |")
    print(f"\n{sequential / ours:.1f} times as fast (target {TARGET:.0f})")
    return 0 if sequential / ours >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
