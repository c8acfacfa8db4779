"""Worlds in the form of AWM's files, written for the tests: an easy one, one of the usual size, and a nasty one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HEAD = """
import os
import json
from datetime import datetime
from typing import Any, Dict, List, Optional
from fastapi import Body, Depends, FastAPI, HTTPException, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Column, DateTime, Float, ForeignKey, Integer, String, create_engine, func
from sqlalchemy.orm import declarative_base, relationship, sessionmaker

DATABASE_PATH = os.getenv("DATABASE_PATH", "sqlite:///world.db")
engine = create_engine(DATABASE_PATH, connect_args={"check_same_thread": False})
SessionLocal = sessionmaker(bind=engine, autocommit=False, autoflush=False)
Base = declarative_base()
app = FastAPI(title="World")
"""

TAIL = """
if __name__ == "__main__":
    import uvicorn
    uvicorn.run(app, host=os.getenv("HOST", "127.0.0.1"), port=int(os.getenv("PORT", "8000")))
"""

LIBRARY = f"""{HEAD}
class Book(Base):
    __tablename__ = "books"
    id = Column(Integer, primary_key=True)
    title = Column(String, nullable=False)
    copies = Column(Integer, default=1)
    updated_at = Column(DateTime, default=datetime.utcnow, onupdate=datetime.utcnow)

class Loan(Base):
    __tablename__ = "loans"
    id = Column(Integer, primary_key=True)
    book_id = Column(Integer, ForeignKey("books.id"))
    user_id = Column(Integer)
    lent_at = Column(DateTime, server_default=func.now())

Base.metadata.create_all(engine)

class BookOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int = Field(..., description="Number of the book", example=1)
    title: str = Field(..., description="Title", example="Emma")
    copies: int = Field(..., description="Copies left", example=2)

class LoanIn(BaseModel):
    book_id: int = Field(..., description="Number of the book", example=1)
    note: Optional[str] = Field(None, description="A note", example="for Ana")

class LoanOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int
    book_id: int
    lent_at: datetime

@app.get("/api/books", summary="List books", description="All books, by title.", tags=["books"],
         operation_id="list_books", response_model=List[BookOut])
async def list_books(word: Optional[str] = Query(None, description="A word of the title"),
                     limit: int = Query(20, ge=1, le=100, description="How many at most")):
    session = SessionLocal()
    query = session.query(Book)
    if word:
        query = query.filter(Book.title.contains(word))
    found = query.order_by(Book.title).limit(limit).all()
    session.close()
    return found

@app.get("/api/books/{{book_id}}", summary="Read a book", tags=["books"], operation_id="get_book",
         response_model=BookOut)
async def get_book(book_id: int = Path(..., description="Number of the book")):
    session = SessionLocal()
    book = session.get(Book, book_id)
    if book is None:
        raise HTTPException(status_code=404, detail="Book not found")
    session.close()
    return book

@app.post("/api/loans", summary="Borrow a book", tags=["loans"], operation_id="borrow_book", status_code=201,
          response_model=LoanOut)
async def borrow_book(loan: LoanIn):
    session = SessionLocal()
    book = session.query(Book).filter(Book.id == loan.book_id).first()
    book.copies -= 1
    made = Loan(book_id=book.id, user_id=1)
    session.add(made)
    session.commit()
    session.refresh(made)
    session.close()
    return made

@app.delete("/api/loans/{{loan_id}}", summary="Give a book back", tags=["loans"], operation_id="return_book",
            status_code=204)
async def return_book(loan_id: int):
    session = SessionLocal()
    loan = session.get(Loan, loan_id)
    session.get(Book, loan.book_id).copies += 1
    session.delete(loan)
    session.commit()
    session.close()
{TAIL}"""

LIBRARY_TABLES = [
    {
        "name": "books",
        "ddl": "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, copies INTEGER DEFAULT 1, "
        "updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);",
        "indexes": ["CREATE INDEX idx_books_title ON books(title);"],
    },
    {
        "name": "loans",
        "ddl": "CREATE TABLE loans (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES books(id), user_id INTEGER, "
        "lent_at DATETIME DEFAULT CURRENT_TIMESTAMP);",
        "indexes": [],
    },
]
LIBRARY_ROWS = {
    "books": [
        "INSERT INTO books (id, title, copies) VALUES (1, 'Emma', 2);",
        "INSERT INTO books (id, title, copies) VALUES (2, 'Ulysses', 1);",
        "INSERT INTO books (id, title, copies) VALUES (3, 'Finnegan\\'s Wake', 1);",
    ],
    "loans": ["INSERT INTO loans (id, book_id, user_id) VALUES (1, 99, 1);"],
}


def decides(condition: str) -> str:
    """Return a verifier that decides: a condition over the rows of both databases, read by `rows(which, sql)`."""
    return f"""
def verify_task_completion(initial_db_path: str, final_db_path: str, final_answer: str | None = None) -> dict:
    import sqlite3
    def rows(which, sql):
        path = {{"initial": initial_db_path, "final": final_db_path}}[which]
        connection = sqlite3.connect(f"file:{{path}}?mode=ro", uri=True)
        found = connection.execute(sql).fetchall()
        connection.close()
        return found
    return {{"result": "complete" if {condition} else "others"}}
"""


TELLS = """
def verify_task(initial_db_path: str, final_db_path: str) -> dict:
    connection = sqlite3.connect(final_db_path)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
    connection.close()
    return {"rows": counts}
"""

LIBRARY_TASKS = [
    ("Borrow the book Emma.", decides('len(rows("final", "SELECT * FROM loans WHERE book_id = 1")) == 1')),
    ("Say how many copies of Emma there are.", decides('final_answer is not None and "2" in final_answer')),
    ("See to it that there is a book called Emma.", decides('rows("final", "SELECT 1 FROM books WHERE id = 1")')),
    ("Borrow Ulysses.", decides('rows("final", "SELECT nothing FROM nowhere")')),
    ("Give nothing back.", None),
]


def scenario(
    name: str,
    code: str,
    tables: Sequence[Mapping[str, Any]],
    rows: Mapping[str, Sequence[str]],
    tasks: Sequence[tuple[str, str | None]],
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that AWM's files have for one scenario, by file."""
    judged = [{"code": TELLS, "raw_response": ""} for _ in tasks]
    return {
        "gen_scenario.jsonl": [{"name": name, "description": f"The world {name}."}],
        "gen_tasks.jsonl": [{"scenario": name, "tasks": [sentence for sentence, _ in tasks]}],
        "gen_db.jsonl": [{"scenario": name, "db_schema": {"tables": list(tables)}}],
        "gen_sample.jsonl": [
            {
                "scenario": name,
                "sample_data": {
                    "tables": [{"table_name": table, "insert_statements": list(made)} for table, made in rows.items()]
                },
            }
        ],
        "gen_spec.jsonl": [{"scenario": name, "api_spec": {"api_groups": []}}],
        "gen_envs.jsonl": [{"scenario": name, "db_path": f"./outputs/databases/{name}.db", "full_code": code}],
        "gen_verifier.pure_code.jsonl": [
            {"scenario": name, "task_idx": number, "task": sentence, "verification": {"code": verifier}}
            for number, (sentence, verifier) in enumerate(tasks)
            if verifier is not None
        ],
        "gen_verifier.jsonl": [
            {"scenario": name, "task_idx": number, "task": tasks[number][0], "verification": verification}
            for number, verification in enumerate(judged)
        ],
    }


def library() -> dict[str, list[dict[str, Any]]]:
    """Return the easy world: four endpoints, one statement that fails, tasks of every kind."""
    return scenario("Corner Library", LIBRARY, LIBRARY_TABLES, LIBRARY_ROWS, LIBRARY_TASKS)


FIELDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "ports": (("name", "str", "'Port {n}'"), ("country", "str", "'NL'"), ("berths", "int", "{n}")),
    "ships": (("name", "str", "'Ship {n}'"), ("port_id", "int", "1 + {n} % 20"), ("tonnage", "float", "1000.5 * {n}")),
    "voyages": (("ship_id", "int", "1 + {n} % 20"), ("port_id", "int", "1 + {n} % 7"), ("status", "str", "'planned'")),
    "containers": (("code", "str", "'C{n:04}'"), ("voyage_id", "int", "1 + {n} % 20"), ("weight", "float", "{n}.25")),
    "invoices": (("container_id", "int", "1 + {n} % 20"), ("amount", "float", "{n}.5"), ("status", "str", "'open'")),
}
"""The columns of the harbor: name, type, and the value of a row."""

SQL = {"str": "TEXT", "int": "INTEGER", "float": "REAL"}
ORM = {"str": "String", "int": "Integer", "float": "Float"}


Fields = Mapping[str, Sequence[tuple[str, str, str]]]


def _code_over(tables: Fields) -> Iterator[str]:
    yield HEAD
    for table, fields in tables.items():
        columns = "\n".join(f"    {name} = Column({ORM[kind]})" for name, kind, _ in fields)
        yield f'''
class {table.capitalize()}Row(Base):
    __tablename__ = "{table}"
    id = Column(Integer, primary_key=True)
{columns}
    created_at = Column(DateTime, default=datetime.utcnow)
    updated_at = Column(DateTime, server_default=func.now())
'''
    yield "Base.metadata.create_all(bind=engine)\n"
    for table, fields in tables.items():
        one, row = table.removesuffix("s"), f"{table.capitalize()}Row"
        wanted = "\n".join(f'    {name}: {kind} = Field(..., description="The {name}")' for name, kind, _ in fields)
        maybe = "\n".join(
            f'    {name}: Optional[{kind}] = Field(None, description="The {name}")' for name, kind, _ in fields
        )
        first, kind, _ = fields[0]
        yield f'''
class {row}In(BaseModel):
{wanted}

class {row}Change(BaseModel):
{maybe}

class {row}Out(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int
{maybe}
    created_at: Optional[datetime] = None
    updated_at: Optional[datetime] = None

class {row}List(BaseModel):
    {table}: List[{row}Out]
    total: int

@app.get("/api/{table}", summary="List {table}", description="A page of {table}.", tags=["{table}"],
         operation_id="list_{table}", response_model={row}List)
async def list_{table}({first}: Optional[{kind}] = Query(None, description="Only this {first}"),
                       limit: int = Query(50, ge=1), offset: int = Query(0, ge=0)):
    session = SessionLocal()
    query = session.query({row})
    if {first} is not None:
        query = query.filter({row}.{first} == {first})
    found = query.order_by({row}.id).offset(offset).limit(limit).all()
    result = {row}List({table}=[{row}Out.model_validate(each) for each in found], total=query.count())
    session.close()
    return result

@app.get("/api/{table}/{{number}}", summary="Read one of the {table}", tags=["{table}"], operation_id="get_{one}",
         response_model={row}Out)
async def get_{one}(number: int = Path(..., description="The number")):
    session = SessionLocal()
    found = session.query({row}).filter({row}.id == number).first()
    result = {row}Out.model_validate(found)
    session.close()
    return result

@app.post("/api/{table}", summary="Make one of the {table}", tags=["{table}"], operation_id="create_{one}",
          response_model={row}Out)
async def create_{one}(body: {row}In):
    session = SessionLocal()
    made = {row}(**body.model_dump())
    session.add(made)
    session.commit()
    session.refresh(made)
    result = {row}Out.model_validate(made)
    session.close()
    return result

@app.patch("/api/{table}/{{number}}", summary="Change one of the {table}", tags=["{table}"],
           operation_id="update_{one}", response_model={row}Out)
async def update_{one}(number: int, body: {row}Change = Body(...)):
    session = SessionLocal()
    found = session.query({row}).filter({row}.id == number).first()
    for name, value in body.model_dump(exclude_unset=True).items():
        setattr(found, name, value)
    found.updated_at = func.now()
    session.commit()
    session.refresh(found)
    result = {row}Out.model_validate(found)
    session.close()
    return result

@app.delete("/api/{table}/{{number}}", summary="Remove one of the {table}", tags=["{table}"],
            operation_id="delete_{one}", response_model=Dict[str, bool])
async def delete_{one}(number: int):
    session = SessionLocal()
    gone = session.query({row}).filter({row}.id == number).delete()
    session.commit()
    session.close()
    return {{"removed": bool(gone)}}
'''
    yield TAIL


def harbor(rows: int = 40) -> dict[str, list[dict[str, Any]]]:
    """Return the world of the usual size: 25 endpoints over five tables."""
    tasks: list[tuple[str, str | None]] = [
        (
            f"Set the berths of port {number} to {100 + number}.",
            decides(f'rows("final", "SELECT berths FROM ports WHERE id = {number}") == [({100 + number},)]'),
        )
        for number in range(1, 11)
    ]
    return over_tables("Harbor & Logistics", FIELDS, rows, tasks)


def over_tables(
    name: str, fields_of: Fields, rows: int, tasks: Sequence[tuple[str, str | None]]
) -> dict[str, list[dict[str, Any]]]:
    """Return a world with five endpoints for each of its tables, which list, read, make, change and remove rows.

    Args:
        name: The name of the scenario.
        fields_of: The columns of each table: name, type, and the value of a row.
        rows: How many rows each table has.
        tasks: The tasks, each with its verifier.
    """
    tables = [
        {
            "name": table,
            "ddl": f"CREATE TABLE {table} (id INTEGER PRIMARY KEY AUTOINCREMENT, "
            + ", ".join(f"{name} {SQL[kind]}" for name, kind, _ in fields)
            + ", created_at DATETIME DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);",
            "indexes": [f"CREATE INDEX idx_{table} ON {table}({fields[0][0]})"],
        }
        for table, fields in fields_of.items()
    ]
    made = {
        table: [
            f"INSERT INTO {table} ({', '.join(name for name, _, _ in fields)}) "
            f"VALUES ({', '.join(value.format(n=number) for _, _, value in fields)});"
            for number in range(1, rows + 1)
        ]
        for table, fields in fields_of.items()
    }
    return scenario(name, "".join(_code_over(fields_of)), tables, made, tasks)


def unplayable() -> str:
    """Return why worlds cannot be played on this machine; nothing where they can."""
    from agentworld_gym.core.engines import EngineError
    from agentworld_gym.domains.mcp.awm.engine.libraries import find_libraries
    from agentworld_gym.domains.mcp.awm.engine.sandbox import require_bubblewrap
    from agentworld_gym.domains.swe.engine.python.bubblewrap import usable

    try:
        require_bubblewrap()
        find_libraries()
    except EngineError as error:
        return str(error)
    return "" if usable() else "bubblewrap cannot run here"


def attacks(names: Mapping[str, str], name: str = "Nasty", top: str = "") -> dict[str, list[dict[str, Any]]]:
    """Return a world whose endpoints run the given bodies of functions, each under its name, and which begins so."""
    endpoints = "".join(
        f'@app.get("/api/{tool}", operation_id="{tool}")\nasync def {tool}(word: str = ""):\n'
        + "".join(f"    {line}\n" for line in body.strip().splitlines())
        for tool, body in names.items()
    )
    code = f"{HEAD}\n{top}SEEN: List[str] = []\n{endpoints}\n{TAIL}"
    return scenario(name, code, LIBRARY_TABLES, LIBRARY_ROWS, LIBRARY_TASKS)


def write(folder: Path, *worlds: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    """Write worlds to a folder in AWM's files, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted({file for world in worlds for file in world}):
        rows = [row for world in worlds for row in world.get(file, ())]
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder
