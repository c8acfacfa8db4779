"""What `agentworld train` shows: something from the first moment on, in one live line."""

from __future__ import annotations

import io
import logging
import time

import pytest
from rich.console import Console

from agentworld_gym.cli.training_progress import TrainingProgress

log = logging.getLogger("agentworld_gym.recipe.training.pipeline")


def console(terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=120, color_system=None)


def shown(on: Console) -> str:
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def test_the_last_line_of_the_log_is_live_until_there_are_metrics() -> None:
    terminal = console(terminal=True)
    with TrainingProgress("cpt", 0, terminal) as progress:
        log.info("encoding samples")
        until = time.monotonic() + 5
        while " encoding samples" not in shown(terminal) and time.monotonic() < until:
            time.sleep(0.01)  # a spinner is drawn before the line
        assert " encoding samples" in shown(terminal)
        log.info("training; the first step [compiles] the layers")
        assert "\x1b[2Kencoding samples\n" in shown(terminal), "it stands where the spinner was"
        progress.measured({"step": 3, "loss": 2.5, "progress": 0.25, "tokens_per_second": 1000.0})
        log.info("a line above")
        progress.measured({"step": 6, "loss": 1.5, "progress": 1.0, "tokens_per_second": 1000.0})
    *_, last = shown(terminal).split("a line above")
    assert "100.0% of the budget" in last and "step 6, loss 1.500, 1,000 tokens/s" in last
    assert "[compiles]" in shown(terminal) and "[compiles]" not in last


def test_the_recording_has_the_line_for_as_long_as_it_lasts() -> None:
    terminal = console(terminal=True)
    with TrainingProgress("cpt", 4, terminal) as progress:
        log.info("making a tokenizer")
        for done in range(5):
            progress.recorded(done)
        log.info("encoding samples")
        before = len(shown(terminal))
        progress.recorded(4)
        assert "sessions" not in shown(terminal)[before:], "what is there already is not recorded again"
    assert "recording" in shown(terminal) and "4 of 4 sessions" in shown(terminal)
    assert shown(terminal).index("4 of 4 sessions") < shown(terminal).index("encoding samples")


def test_without_a_terminal_each_is_a_plain_line() -> None:
    plain = console(terminal=False)
    with TrainingProgress("sft", 0, plain) as progress:
        log.info("encoding samples")
        progress.measured({"step": 1, "loss": 2.0, "progress": 0.5, "validation_exact": None})
    assert shown(plain) == "encoding samples\ntraining, sft: 50.0% of the budget, step 1, loss 2.000\n"


def test_what_collecting_logs_is_shown_too() -> None:
    plain = console(terminal=False)
    with TrainingProgress("cpt", 9, plain):
        logging.getLogger("agentworld_gym.agents.collect.recorder").warning("session 3 is left out")
    assert shown(plain) == "session 3 is left out\n"


def test_a_run_that_breaks_leaves_what_it_was_doing_and_the_log_as_it_was() -> None:
    terminal = console(terminal=True)
    logs = [logging.getLogger(f"agentworld_gym.{room}") for room in ("recipe", "agents.collect")]
    before = [(log.level, list(log.handlers)) for log in logs]
    with pytest.raises(KeyboardInterrupt), TrainingProgress("cpt", 9, terminal):
        log.info("loading the model x")
        raise KeyboardInterrupt
    assert shown(terminal).endswith("loading the model x\n")
    assert [(log.level, list(log.handlers)) for log in logs] == before
