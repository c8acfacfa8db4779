"""The program tells on standard error what a local model does for minutes."""

from __future__ import annotations

import logging

from agentworld_gym.cli import app


def test_the_program_shows_what_a_local_model_does(monkeypatch, capfd):
    log = logging.getLogger("agentworld_gym.llm.generators.transformers")
    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(log, "level", log.level)
    monkeypatch.setattr(app, "app", lambda: log.info("loading the model"))
    app.main()
    assert "loading the model" in capfd.readouterr().err
