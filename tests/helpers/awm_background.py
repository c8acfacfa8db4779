"""A world in AWM's form with work that nobody waits for: loops that begin with the app, and messages sent later."""

from __future__ import annotations

from typing import Any

import awm_worlds

CODE = """
import asyncio, os, threading, time
from contextlib import asynccontextmanager
from fastapi import FastAPI
from sqlalchemy import create_engine, text

engine = create_engine(os.environ["DATABASE_PATH"])
BEATS = []

def write(word):
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO words (word) VALUES (:word)"), {"word": word})

async def beat():
    while True:
        await asyncio.sleep(30)
        BEATS.append(1)

def tidy_up():
    while True:
        time.sleep(60)
        BEATS.clear()

@asynccontextmanager
async def lifespan(app):
    task = asyncio.create_task(beat())
    threading.Thread(target=tidy_up, daemon=True).start()
    yield
    task.cancel()

app = FastAPI(lifespan=lifespan)

async def send_later(word):
    await asyncio.sleep(0.5)
    write(word)

async def send_for_ever(word):
    while True:
        await send_later(word)

@app.post("/send", operation_id="send")
async def send(word: str, always: bool = False):
    asyncio.create_task(send_for_ever(word) if always else send_later(word))
    return {"queued": word}

@app.get("/words", operation_id="list_words")
async def list_words():
    with engine.connect() as connection:
        return [word for word, in connection.execute(text("SELECT word FROM words"))]
"""


def background() -> dict[str, list[dict[str, Any]]]:
    """Return the world."""
    tables = [{"name": "words", "ddl": "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT)", "indexes": []}]
    return awm_worlds.scenario("background", CODE, tables, {}, [("Send a word.", None)])
