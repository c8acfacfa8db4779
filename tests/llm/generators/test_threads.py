"""Threads that open their first generators at once share one loop, one engine, and what it knows."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

from agentworld_gym.base.process.per_process import PerProcess

FIRST_AT_ONCE = """
import json, sys, threading, warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Stub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def say(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def do_GET(self): self.say({"data": [{"id": "m"}], "version": "1"})
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        text = "<predicted_observation>seen</predicted_observation>"
        self.say({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})

server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
threading.Thread(target=server.serve_forever, daemon=True).start()
import gymnasium as gym
import agentworld_gym
from agentworld_gym.llm.generators.server import background_loop as loops

slow = loops.BackgroundLoop.__init__
def slower(self):
    import time
    time.sleep(0.05)  # as where the processor is busy
    slow(self)
loops.BackgroundLoop.__init__ = slower

start, seen = threading.Barrier(16), []
def play(number):
    start.wait()
    try:
        env = gym.make("AgentWorld/Terminal-v0", world=f"http://127.0.0.1:{server.server_port}/v1")
        env.reset(seed=number)
        observation, *_, info = env.step("pwd")
        seen.append("seen" if observation.endswith("seen") else str(info.get("failure")))
        env.close()
    except BaseException as error:
        seen.append(f"{type(error).__name__}: {error}")

players = [threading.Thread(target=play, args=(number,)) for number in range(16)]
for player in players: player.start()
for player in players: player.join()
names = [thread.name for thread in threading.enumerate()]
print(json.dumps({"seen": seen, "loops": names.count("agentworld-generators")}))
"""


def test_sixteen_threads_make_their_first_environment_on_a_server_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_AT_ONCE], capture_output=True, text=True, check=True, timeout=300
    )
    assert json.loads(done.stdout) == {"seen": ["seen"] * 16, "loops": 1}, done.stderr


def test_a_value_of_a_process_is_made_once_however_many_threads_ask_for_it() -> None:
    inside, start = threading.Event(), threading.Barrier(8)

    def make() -> object:
        inside.wait(0.05)
        return object()

    value, found = PerProcess(make), list[object]()

    def ask() -> None:
        start.wait()
        found.append(value())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1
