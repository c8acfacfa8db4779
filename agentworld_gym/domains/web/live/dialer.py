"""Runs the server of a site, and connects to it from where it runs, which may be a sandbox with a network of its own.

It is a program, which imports nothing of this package: `dialer.py PORT COMMAND...`. Its standard input is a socket of
packets. Each packet that it reads asks for a connection to the port: it answers `y` with the connection, `n` where
nothing listens there, or `e` where the server has ended.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

HOSTS = ("127.0.0.1", "::1")


def main() -> None:
    """Run the program."""
    link = socket.socket(fileno=os.dup(0))
    port = int(sys.argv[1])
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while link.recv(1):
            answer(link, port, server)
    finally:
        server.kill()


def answer(link: socket.socket, port: int, server: subprocess.Popen[bytes]) -> None:
    """Answer one request."""
    if server.poll() is not None:
        link.send(f"e{server.returncode}".encode())
        return
    for host in HOSTS:
        try:
            found = socket.create_connection((host, port), 10)
        except OSError:
            continue
        with found:
            socket.send_fds(link, [b"y"], [found.fileno()])
        return
    link.send(b"n")


if __name__ == "__main__":
    main()
