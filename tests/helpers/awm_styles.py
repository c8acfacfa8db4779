"""Worlds in AWM's form that are written in ways which language models use and the other worlds of the tests do not."""

from __future__ import annotations

from typing import Any

import awm_worlds

CLINIC = '''
# -*- coding: utf-8 -*-
"""Clinic API."""
from __future__ import annotations
import os, sys, re, uuid, json, math, enum, logging, time, random, string, hashlib, traceback
from contextlib import contextmanager, asynccontextmanager
from datetime import datetime, date, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path as FilePath
from typing import Annotated, Any, Dict, Generator, List, Literal, Optional, Union

from fastapi import (APIRouter, BackgroundTasks, Body, Cookie, Depends, FastAPI, Header, HTTPException, Path,
                     Query, Request, Response, status)
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, EmailStr, Field, field_validator, model_validator
from sqlalchemy import (Boolean, CheckConstraint, Column, Date, DateTime, Float, ForeignKey, Index, Integer, JSON,
                        Numeric, String, Text, UniqueConstraint, and_, create_engine, desc, event, func, or_, select,
                        text, update)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.declarative import declarative_base
from sqlalchemy.orm import Session, joinedload, relationship, selectinload, sessionmaker

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
logger = logging.getLogger(__name__)

DB_PATH = os.environ.get("DATABASE_PATH") or "sqlite:///./clinic.db"
if not DB_PATH.startswith("sqlite"):
    DB_PATH = f"sqlite:///{DB_PATH}"
engine = create_engine(DB_PATH, connect_args={"check_same_thread": False, "timeout": 30}, pool_pre_ping=True,
                       echo=False)

@event.listens_for(engine, "connect")
def set_sqlite_pragma(dbapi_connection, connection_record):
    cursor = dbapi_connection.cursor()
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()

SessionLocal = sessionmaker(autocommit=False, autoflush=False, bind=engine, expire_on_commit=False)
Base = declarative_base()

class StatusEnum(str, Enum):
    planned = "planned"
    done = "done"
    cancelled = "cancelled"

class Patient(Base):
    __tablename__ = "Patients"
    id = Column(Integer, primary_key=True, autoincrement=True)
    full_name = Column(String(200), nullable=False)
    email = Column(String, unique=True)
    born = Column(Date)
    balance = Column(Numeric(10, 2), default=0)
    tags = Column(JSON, default=list)
    active = Column(Boolean, default=True)
    created_at = Column(DateTime, default=lambda: datetime.now(timezone.utc))
    visits = relationship("Visit", back_populates="patient", cascade="all, delete-orphan", lazy="selectin")

class Visit(Base):
    __tablename__ = "order"
    id = Column(Integer, primary_key=True)
    patient_id = Column(Integer, ForeignKey("Patients.id", ondelete="CASCADE"), nullable=False)
    group = Column("group", String)
    starts_at = Column(DateTime, nullable=False)
    status = Column(String, default=StatusEnum.planned.value)
    patient = relationship("Patient", back_populates="visits")
    __table_args__ = (Index("ix_visit_start", "starts_at"), CheckConstraint("status in ('planned','done','cancelled')"))

def get_db() -> Generator[Session, None, None]:
    db = SessionLocal()
    try:
        yield db
    finally:
        db.close()

DbDep = Annotated[Session, Depends(get_db)]

def current_user(x_user_id: Optional[int] = Header(default=1, alias="X-User-Id")) -> int:
    return x_user_id or 1

class VisitOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int
    group: Optional[str] = None
    starts_at: datetime
    status: StatusEnum

class PatientOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int
    full_name: str
    email: str | None = None
    born: Optional[date] = None
    balance: Decimal = Decimal("0")
    tags: List[str] = Field(default_factory=list)
    visits: list[VisitOut] = []

class PatientIn(BaseModel):
    full_name: str = Field(..., min_length=1, max_length=200)
    email: Optional[str] = None
    born: Optional[date] = None
    tags: List[str] = []

    @field_validator("full_name")
    @classmethod
    def strip(cls, value: str) -> str:
        return value.strip()

class VisitIn(BaseModel):
    patient_id: int
    starts_at: datetime = Field(..., description="ISO time", examples=["2026-02-01T10:00:00"])
    kind: Literal["check", "surgery"] = "check"

@asynccontextmanager
async def lifespan(app: FastAPI):
    Base.metadata.create_all(bind=engine)
    logger.info("started")
    yield

app = FastAPI(title="Clinic", version="1.0.0", lifespan=lifespan)
app.add_middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["*"], allow_headers=["*"])
router = APIRouter(prefix="/api/v1", tags=["clinic"])

@app.middleware("http")
async def add_header(request: Request, call_next):
    started = time.time()
    response = await call_next(request)
    response.headers["X-Took"] = str(time.time() - started)
    return response

@app.exception_handler(ValueError)
async def on_value_error(request: Request, error: ValueError):
    return JSONResponse(status_code=400, content={"error": str(error)})

@app.on_event("startup")
def startup():
    print("startup")

@app.get("/health", include_in_schema=False)
def health():
    return {"ok": True}

@router.get("/patients", response_model=List[PatientOut], operation_id="list_patients", summary="List patients")
def list_patients(db: DbDep, q: str | None = Query(None, max_length=50), active: Optional[bool] = None,
                  born_after: Optional[date] = Query(None), tags: Optional[List[str]] = Query(None),
                  sort: Literal["name", "born"] = "name", skip: int = 0, limit: int = Query(20, le=100),
                  user: int = Depends(current_user)):
    statement = select(Patient)
    if q:
        statement = statement.where(Patient.full_name.ilike(f"%{q}%"))
    if active is not None:
        statement = statement.where(Patient.active.is_(active))
    if born_after:
        statement = statement.where(Patient.born > born_after)
    return db.scalars(statement.order_by(Patient.full_name).offset(skip).limit(limit)).all()

@router.get("/patients/{patient_id}", response_model=PatientOut, operation_id="get_patient",
            responses={404: {"description": "Not found"}})
async def get_patient(db: DbDep, patient_id: int = Path(..., ge=1)):
    patient = db.query(Patient).options(joinedload(Patient.visits)).filter_by(id=patient_id).one_or_none()
    if not patient:
        raise HTTPException(status.HTTP_404_NOT_FOUND, detail={"code": "not_found", "id": patient_id})
    return patient

@router.post("/patients", response_model=PatientOut, status_code=status.HTTP_201_CREATED, operation_id="create_patient")
def create_patient(payload: PatientIn, background: BackgroundTasks, db: Session = Depends(get_db)):
    patient = Patient(**payload.model_dump())
    db.add(patient)
    try:
        db.commit()
    except IntegrityError as error:
        db.rollback()
        raise HTTPException(status_code=409, detail="Email exists") from error
    db.refresh(patient)
    background.add_task(logger.info, "made %s", patient.id)
    return patient

@router.post("/visits", operation_id="create_visit")
async def create_visit(payload: VisitIn, request: Request, response: Response, db: DbDep) -> VisitOut:
    if payload.kind == "surgery":
        raise ValueError("no surgery")
    visit = Visit(patient_id=payload.patient_id, group=payload.kind, starts_at=payload.starts_at.replace(tzinfo=None))
    db.add(visit)
    try:
        db.commit()
    except SQLAlchemyError:
        db.rollback()
        raise HTTPException(400, "No such patient")
    response.headers["Location"] = f"/api/v1/visits/{visit.id}"
    return visit

@router.put("/visits/{visit_id}/status/{new_status}", operation_id="set_visit_status")
async def set_status(visit_id: int, new_status: StatusEnum, db: DbDep, reason: Annotated[str, Body(embed=True)] = ""):
    changed = db.execute(update(Visit).where(Visit.id == visit_id).values(status=new_status.value))
    db.commit()
    return {"changed": changed.rowcount, "reason": reason}

@router.delete("/patients/{patient_id}", status_code=204, operation_id="delete_patient")
def delete_patient(patient_id: int, db: DbDep):
    patient = db.get(Patient, patient_id)
    if patient is None:
        raise HTTPException(404)
    db.delete(patient)
    db.commit()
    return Response(status_code=204)

@router.get("/stats", operation_id="get_stats")
def stats(db: DbDep) -> Dict[str, Any]:
    rows = db.execute(text('SELECT "group", count(*) AS n FROM "order" GROUP BY "group"')).mappings().all()
    return {"groups": [dict(row) for row in rows], "at": datetime.now().isoformat(), "total": sum(r["n"] for r in rows),
            "ratio": math.sqrt(2), "nan": None}

@router.get("/export", response_class=PlainTextResponse, operation_id="export_patients")
def export(db: DbDep):
    return "\\n".join(patient.full_name for patient in db.query(Patient).order_by(Patient.id))

@router.get("/slow", operation_id="get_slow")
async def slow():
    import asyncio
    await asyncio.sleep(5)
    return await asyncio.to_thread(lambda: {"ok": True})

app.include_router(router)

def main():
    import uvicorn
    uvicorn.run("clinic:app", host="0.0.0.0", port=int(os.environ.get("PORT", 8000)), reload=False)

if __name__ == "__main__":
    main()
'''

CLINIC_TABLES = [
    {
        "name": "Patients",
        "ddl": """-- people who are treated
CREATE TABLE IF NOT EXISTS "Patients" (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number
    full_name TEXT NOT NULL, /* the name */
    email TEXT UNIQUE,
    born DATE,
    balance NUMERIC(10, 2) DEFAULT 0,
    tags JSON DEFAULT '[]',
    active BOOLEAN DEFAULT 1,
    created_at TIMESTAMP DEFAULT (datetime('now'))
);""",
        "indexes": ["CREATE INDEX IF NOT EXISTS idx_p ON Patients(full_name);", ""],
    },
    {
        "name": "order",
        "ddl": """CREATE TABLE "order" (id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL,
"group" TEXT, starts_at DATETIME NOT NULL,
status TEXT DEFAULT 'planned' CHECK (status IN ('planned','done','cancelled')),
FOREIGN KEY (patient_id) REFERENCES Patients(id) ON DELETE CASCADE)""",
        "indexes": None,
    },
]
CLINIC_ROWS = {
    "Patients": [
        "INSERT INTO Patients (id, full_name, email, born, tags) "
        "VALUES (1, 'Ana; the ''first''', 'a@x.org', '1980-02-03', '[\"vip\"]');",
        "INSERT INTO Patients (full_name, email, born, tags)\n"
        "VALUES ('Ben -- junior', 'b@x.org', '1990-05-06', '[]'), ('Cy', 'c@x.org', NULL, '[]');",
        "INSERT INTO Patients (full_name, email) VALUES ('Double', 'a@x.org');",
        "-- nothing",
    ],
    "order": [
        "INSERT INTO \"order\" VALUES (1, 1, 'check', '2026-01-05 10:00:00', 'planned');",
        'INSERT INTO "order" (patient_id, "group", starts_at, status) '
        "VALUES (2, 'check', '2026-01-06T10:00:00', 'planned');",
        "INSERT INTO \"order\" (patient_id, starts_at, status) VALUES (2, '2026-01-07 10:00:00', 'lost');",
    ],
}

ORM_VERIFIER = """
import sqlite3, os, sys
from typing import Dict, Any

def _count(path: str, where: str = "1=1") -> int:
    conn = sqlite3.connect(path)
    conn.row_factory = sqlite3.Row
    try:
        cur = conn.cursor()
        cur.execute(f'SELECT COUNT(*) AS n FROM "order" WHERE {where}')
        return cur.fetchone()["n"]
    finally:
        conn.close()

def verify_task_completion(initial_db_path: str, final_db_path: str, final_answer: str = None) -> Dict[str, Any]:
    print("checking", initial_db_path)
    print("to stderr", file=sys.stderr)
    if not os.path.exists(final_db_path):
        return {"result": "others"}
    with sqlite3.connect(f"file:{final_db_path}?mode=ro&immutable=1", uri=True) as conn:
        conn.execute("ATTACH DATABASE ? AS before", (initial_db_path,))
        new = conn.execute('SELECT id FROM main."order" EXCEPT SELECT id FROM before."order"').fetchall()
    done = _count(final_db_path, "status = 'done'") > _count(initial_db_path, "status = 'done'")
    return {"result": "complete" if done else "others", "new": len(new), "extra": {1, 2}}

if __name__ == "__main__":
    print(verify_task_completion(sys.argv[1], sys.argv[2]))
"""
SQLALCHEMY_VERIFIER = """
from sqlalchemy import create_engine, text

def verify_task_completion(initial_db_path, final_db_path, final_answer=None):
    engine = create_engine(f"sqlite:///{final_db_path}")
    with engine.connect() as connection:
        count = connection.execute(text('SELECT count(*) FROM "Patients"')).scalar()
    return {"result": "complete" if count > 3 else "others"}
"""
NONE_VERIFIER = """
def verify_task_completion(initial_db_path, final_db_path, final_answer=None):
    return None
"""
BOOLEAN_VERIFIER = """
def verify_task_completion(initial_db_path, final_db_path, final_answer=None):
    import sqlite3
    with sqlite3.connect(final_db_path) as connection:
        return connection.execute("SELECT count(*) FROM Patients WHERE full_name = 'Dora'").fetchone()[0] == 1
"""


def clinic() -> dict[str, list[dict[str, Any]]]:
    """Return a world with much that FastAPI and SQLAlchemy offer, and names that SQL reserves."""
    tasks = [
        ("Mark visit 1 as done.", ORM_VERIFIER),
        ("Add a patient.", SQLALCHEMY_VERIFIER),
        ("Do nothing that a verifier could see.", NONE_VERIFIER),
        ("Add the patient 'Dora'.", BOOLEAN_VERIFIER),
    ]
    return awm_worlds.scenario("Clinic: Care & Visits!", CLINIC, CLINIC_TABLES, CLINIC_ROWS, tasks)


DIARY = """
import os, sqlite3
from contextlib import closing
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

DB = os.getenv("DATABASE_PATH", "diary.db").replace("sqlite:///", "")
app = FastAPI()

def connect():
    connection = sqlite3.connect(DB, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    return connection

class Entry(BaseModel):
    day: str
    words: str = ""

@app.get("/entries", operation_id="list_entries")
def list_entries(day: str = None):
    connection = connect()
    rows = connection.execute("SELECT * FROM entries WHERE ? IS NULL OR day = ?", (day, day)).fetchall()
    connection.close()
    return [dict(row) for row in rows]

@app.post("/entries", operation_id="add_entry")
def add_entry(entry: Entry):
    with closing(connect()) as connection, connection:
        cursor = connection.execute("INSERT INTO entries (day, words) VALUES (?, ?)", (entry.day, entry.words))
        if entry.words == "undo":
            raise HTTPException(400, "undone")
        return {"id": cursor.lastrowid}

@app.get("/slowly", operation_id="count_slowly")
def count_slowly():
    connection = sqlite3.connect(DB)
    cursor = connection.cursor()
    cursor.execute("SELECT count(*) FROM entries")
    return cursor.fetchone()
"""


def diary() -> dict[str, list[dict[str, Any]]]:
    """Return a world that uses sqlite3 itself, in endpoints that are no coroutines and at times close nothing."""
    ddl = "CREATE TABLE entries (id INTEGER PRIMARY KEY, day TEXT, words TEXT)"
    rows = {"entries": ["INSERT INTO entries (day, words) VALUES ('2026-01-01', 'Rain.')"]}
    return awm_worlds.scenario("diary", DIARY, [{"name": "entries", "ddl": ddl}], rows, [("Write.", ORM_VERIFIER)])


ACCOUNTS = """
import logging, os, sqlite3
from logging.handlers import RotatingFileHandler
import uvicorn
from fastapi import FastAPI, Query

DB = os.getenv("DATABASE_PATH", "accounts.db").replace("sqlite:///", "")
FRESH = not os.path.exists(DB)
logger = logging.getLogger(__name__)
logger.setLevel(logging.INFO)
logger.addHandler(RotatingFileHandler("app.log", maxBytes=1000, backupCount=2))
logger.addHandler(logging.FileHandler("logs/errors.log"))
KINDS = ["checking", "savings"]

def connect():
    return sqlite3.connect(DB, 5.0, sqlite3.PARSE_DECLTYPES, isolation_level=None)

if FRESH:
    connect().execute("INSERT INTO accounts (owner) VALUES ('made up by the code')")

app = FastAPI()

@app.get("/accounts", operation_id="list_accounts")
def list_accounts(kind: str = Query("any", description=f"any, {', '.join(KINDS)}")):
    logger.info("accounts are listed")
    rows = connect().execute("SELECT owner, opened FROM accounts").fetchall()
    return {"owners": [owner for owner, _ in rows], "day": rows[0][1].strftime("%d.%m.%Y"), "of": ", ".join(KINDS)}

@app.post("/accounts", operation_id="open_account")
def open_account(owner: str):
    return connect().execute("INSERT INTO accounts (owner) VALUES (?)", (owner,)).rowcount

uvicorn.run(app, host="0.0.0.0", port=8000)
"""


def accounts() -> dict[str, list[dict[str, Any]]]:
    """Return a world that writes logs, starts its server at once, looks for its file, and commits every statement."""
    ddl = "CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner TEXT, opened DATE DEFAULT '2026-01-05')"
    rows = {"accounts": ["INSERT INTO accounts (owner) VALUES ('Ana')"]}
    return awm_worlds.scenario("accounts", ACCOUNTS, [{"name": "accounts", "ddl": ddl}], rows, [])
