"""A world in AWM's form whose app is made by a function, and whose verifiers are written in other ways."""

from __future__ import annotations

from typing import Any

import awm_worlds

CODE = """
import os
from typing import Any, Dict
import uvicorn
from fastapi import Body, Depends, FastAPI
from pydantic import BaseModel
from sqlalchemy import JSON, create_engine, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

BASE_DIR = os.path.dirname(os.path.abspath(__file__))
os.makedirs(os.path.join(BASE_DIR, "outputs", "databases"), exist_ok=True)
engine = create_engine(os.environ["DATABASE_PATH"])
SessionLocal = sessionmaker(bind=engine)

class Base(DeclarativeBase):
    pass

class Note(Base):
    __tablename__ = "notes"
    id: Mapped[int] = mapped_column(primary_key=True)
    details: Mapped[dict] = mapped_column(JSON)

def get_db():
    db = SessionLocal()
    try:
        yield db
    finally:
        db.close()

def create_app():
    made = FastAPI(title=BASE_DIR)

    class NoteIn(BaseModel):
        details: Dict[str, Any]

    @made.post("/api/notes", operation_id="create_note")
    async def create_note(note: NoteIn, db: Session = Depends(get_db)):
        db.add(Note(details=note.details))
        db.commit()
        return {"stored": True}

    @made.get("/api/notes/{number}", operation_id="get_note")
    async def get_note(number: int, db: Session = Depends(get_db)):
        return db.get(Note, number).details

    @made.post("/api/keys", operation_id="check_keys")
    async def check_keys(db: Session = Depends(get_db)):
        before = db.execute(text("PRAGMA foreign_keys")).scalar()
        db.execute(text("PRAGMA foreign_keys = ON"))
        return {"before": before}

    return made

app = create_app()

if __name__ == "__main__":
    uvicorn.run(app, host=os.environ["HOST"], port=int(os.environ["PORT"]))
"""

HELPED = """
import sqlite3

def verify_readable(path):
    return sqlite3.connect(path)

def verify_task_completion(initial_db_path, final_db_path, final_answer=None):
    [(count,)] = verify_readable(final_db_path).execute("SELECT count(*) FROM notes")
    return {"result": "complete" if count else "others"}
"""

RENAMED = """
def verify_task_completion(initial_db_path, final_db_path, answer=None):
    return {"result": "complete" if answer == "three" else "others"}
"""

CATCHING_ALL = """
def verify_task_completion(*args, **kwargs):
    [initial, final, answer] = args
    return {"result": "complete" if answer == "three" else "others"}
"""

TAKING_OTHERS = """
def verify_task_completion(initial_db_path, final_db_path, **others):
    return {"result": "complete" if others == {"final_answer": "three"} else "others"}
"""

COUNTING = """
import sqlite3
from collections import Counter

def verify_task(initial_db_path, final_db_path):
    connection = sqlite3.connect(final_db_path)
    connection.row_factory = sqlite3.Row
    rows = connection.execute("SELECT id, details FROM notes").fetchall()
    return {"rows": rows, "pairs": Counter((row["id"], row["details"]) for row in rows), None: {1}}
"""


def factory() -> dict[str, list[dict[str, Any]]]:
    """Return the world; its first task is done by a note, the others by the answer `three`."""
    tables = [{"name": "notes", "ddl": "CREATE TABLE notes (id INTEGER PRIMARY KEY, details TEXT)", "indexes": []}]
    question = "Say how much one and two are."
    tasks = [("Write a note.", HELPED), *((question, code) for code in (RENAMED, CATCHING_ALL, TAKING_OTHERS))]
    return awm_worlds.scenario("factory", CODE, tables, {}, tasks)


KEPT_SESSION = """
from fastapi import FastAPI
from sqlalchemy import create_engine, text
from sqlalchemy.orm import sessionmaker

engine = create_engine("sqlite:///notes.db")
db = sessionmaker(bind=engine)()
db.execute(text("INSERT INTO notes (details) VALUES ('{}')"))
db.commit()
seeded = db.execute(text("SELECT count(*) FROM notes")).scalar()
app = FastAPI()

@app.get("/api/notes", operation_id="count_notes")
async def count_notes():
    return {"count": db.execute(text("SELECT count(*) FROM notes")).scalar()}

@app.post("/api/notes", operation_id="create_note")
async def create_note():
    db.execute(text("INSERT INTO notes (details) VALUES ('{}')"))
    db.commit()
    return await count_notes()
"""


def kept_session() -> dict[str, list[dict[str, Any]]]:
    """Return a world in which all calls use one session of the ORM, which is never closed."""
    tables = [{"name": "notes", "ddl": "CREATE TABLE notes (id INTEGER PRIMARY KEY, details TEXT)", "indexes": []}]
    return awm_worlds.scenario("kept_session", KEPT_SESSION, tables, {}, [("Write a note.", HELPED)])
