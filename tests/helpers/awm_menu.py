"""A world in AWM's form that reads its tables from its database, and whose verifier changes a copy."""

from __future__ import annotations

from typing import Any

import awm_worlds

MENU = """
import os
from typing import List, TypedDict
from fastapi import FastAPI
from sqlalchemy import MetaData, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session

url = make_url(os.environ["DATABASE_PATH"])
if not os.path.exists(url.database):
    raise RuntimeError(f"{url.database} is missing")
engine = create_engine(url, pool_size=5, max_overflow=10)

@event.listens_for(engine, "connect")
def prepare(connection, _):
    connection.execute("PRAGMA journal_mode = WAL")
    connection.create_function("loud", 1, str.upper)

if not inspect(engine).has_table("dishes"):
    raise RuntimeError("no table dishes")
Base = automap_base()
Base.prepare(autoload_with=engine)
Dish = Base.classes.dishes
metadata = MetaData()
metadata.reflect(bind=engine)
orders = metadata.tables["orders"]
app = FastAPI()

class Row(TypedDict):
    name: str
    orders: int

@app.get("/dishes")
def list_dishes() -> List[Row]:
    with Session(engine) as session:
        return [{"name": dish.name, "orders": len(dish.orders_collection)} for dish in session.scalars(select(Dish))]

@app.get("/loud", operation_id="list_loudly")
def list_loudly():
    connection = engine.raw_connection()
    try:
        return [row[0] for row in connection.cursor().execute("SELECT loud(name) FROM dishes")]
    finally:
        connection.close()

@app.post("/orders", operation_id="place_order")
def place_order(dish_id: int):
    with engine.begin() as connection:
        return connection.execute(orders.insert().values(dish_id=dish_id)).inserted_primary_key[0]
"""

COPYING_VERIFIER = """
import os, shutil, sqlite3, tempfile

def verify_task_completion(initial_db_path, final_db_path, final_answer=None):
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(final_db_path, os.path.join(folder, "final.db"))
        connection = sqlite3.connect(copy)
        connection.execute("DELETE FROM orders WHERE dish_id <> 2")
        connection.commit()
        [(count,)] = connection.execute("SELECT count(*) FROM orders")
        connection.close()
    return {"result": "complete" if count else "others"}
"""


def menu() -> dict[str, list[dict[str, Any]]]:
    """Return a world that reads its tables from the database, names no operation, and has a verifier that copies."""
    tables = [
        {"name": "dishes", "ddl": "CREATE TABLE dishes (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"},
        {
            "name": "orders",
            "ddl": "CREATE TABLE orders (id INTEGER PRIMARY KEY, dish_id INTEGER REFERENCES dishes(id))",
        },
    ]
    rows = {"dishes": ["INSERT INTO dishes (name) VALUES ('Soup'), ('Pie')"]}
    return awm_worlds.scenario("menu", MENU, tables, rows, [("Order a pie.", COPYING_VERIFIER)])
