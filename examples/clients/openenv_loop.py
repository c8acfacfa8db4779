"""OpenEnv: a server of environments, and one client of it. A server of your own is the two lines of `app` and uvicorn.

python examples/clients/openenv_loop.py
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn


@contextlib.contextmanager
def running(app: Any) -> Iterator[str]:
    """Yield the address of a server in a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def main(steps: int = 20) -> float:
    # plug in
    from agentworld_gym.integrations.openenv import AgentWorldAction, AgentWorldClient, create_app

    app = create_app("mcp", levels=[1])
    # end
    total = 0.0
    with running(app) as url, AgentWorldClient(url).sync() as env:
        result = env.reset(seed=7)
        tools = [tool["name"] for tool in result.observation.info["tools"]]
        for step in range(min(steps, len(tools))):
            call = json.dumps({"name": tools[step], "arguments": {}})  # Your model answers the observation here.
            result = env.step(AgentWorldAction(text=call))
            total += result.reward or 0.0
            if result.done:
                break
    print(f"{result.observation.text}\nreturn {total:.2f}, failure {result.observation.failure}")
    return total


if __name__ == "__main__":
    main()
