"""Measures the structured state of a domain: whether it is complete, and how short the answers of a world model get.

python benchmarks/research/state_form.py DOMAIN [--episodes 500] [--sessions 24] [--policy NAME ...] [--split SPLIT]

An episode is restored from its state, as JSON, at a random step, and goes on beside the machine that it was taken from;
every second one with controls in force. Answers are those to the steps of recorded sessions in compact prompts, half of
them of experts and half of explorers if no policies are named; each answer in the state form is read again, and the
view has to print the observation. Answers that say no more than that a view is right (`same`, and in a terminal that
what is printed is what programs print that read) are counted. The tokens are those of a small tokenizer of 4,096 pieces
that is built from these answers and turns, one for each form.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

from agentworld_gym.agents.collect.config import PolicyName, SmallModelSessions
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import Form, load_spec
from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.catalog import load_engine, load_view
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.web.engine.sites.site import site_names
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from agentworld_gym.llm.rows.rerendering import prompts_for, rendered_turns, task_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples_from_rows import cpt_sample
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer

sys.path.append(str(Path(__file__).resolve().parents[1] / "speed"))

STEPS = 40
Walk = tuple[dict[str, Any], Callable[[Any, random.Random], Any]]
"""The state in which a random episode begins, and what to do next on a machine."""


def android_walk(number: int) -> Walk:
    """Touches in all apps, one of which is opened first."""
    from android_speed import TITLES, chosen

    first = iter([{"action_type": "open_app", "app_name": TITLES[number % len(TITLES)]}])
    return {}, lambda machine, rng: next(first, None) or chosen(machine, rng)


def web_walk(number: int) -> Walk:
    """What a person might do on one of the sites, signed in or not."""
    from web_walk import next_action, state_of

    names = site_names()
    state = state_of(names[number % len(names)], number // len(names) % 8, number // len(names) % 2 == 1)
    return state, lambda machine, rng: next_action(machine.observation, rng)


def desktop_walk(number: int) -> Walk:
    """Clicks, keys and texts in six programs, and now and then code, a drag, or a key that is held."""
    from desktop_speed import STATES, random_action, state_of

    name = [*STATES, "browser"][number % (len(STATES) + 1)]
    state = {"open": [{"program": "browser"}]} if name == "browser" else state_of(name)
    others = (
        "pyautogui.moveTo({0}, {1})\npyautogui.dragTo({1}, {0})",
        "pyautogui.hotkey('alt', 'tab')",
        "pyautogui.keyDown('shift')",
        "pyautogui.keyUp('shift')",
        "subprocess.run('ls > Documents/{0}.txt', shell=True)",
        "subprocess.Popen(['gedit', 'Documents/{0}.txt'])",
        "os.rename('/home/user/Documents/note 2.txt', '/home/user/{0}.txt')",
        "time.sleep(0.{0})",
        "CalcTools.save()",
        "BrowserTools.back()",
    )

    def act(machine: Any, rng: random.Random) -> str:
        if rng.random() < 0.1:
            return rng.choice(others).format(rng.randrange(100, 1000), rng.randrange(100, 1000))
        return random_action(machine, rng, name)

    return state, act


def mcp_walk(number: int) -> Walk:
    """Calls of the menu of a generated task, right and wrong ones in random order."""
    names = sorted(families("mcp"))
    task = generate("mcp", names[number % len(names)], 1 + number % 3, number)
    calls = [json.loads(action) for action in task.menu if not finishes(action)]
    return dict(task.state), lambda machine, rng: rng.choice(calls)


def terminal_walk(number: int) -> Walk:
    """Commands of the menu of a generated task, and now and then a script, a key, or a program that holds the
    screen."""
    names = sorted(families("terminal"))
    task = generate("terminal", names[number % len(names)], 1 + number % 3, number)
    commands = [action for action in task.menu if not finishes(action)]
    others = (
        "for name in *; do echo $name >> names.{0}; done",
        "export TAG={0}; echo $TAG",
        "sleep {1}; date > late.{0}",
        "tar -czf all.{0} *",
        "ln -s {0} link",
        "printf {0}",
        "cd /tmp; pwd",
        "cat",
        "cat <<END",
        "echo {0} | tee -a log.{1}",
        "find . -newer names -delete",
        "ls -la --color=always",
    )
    keys = ("C-c", "C-d", "END\n", "Up", "ls", "")

    def act(machine: Any, rng: random.Random) -> list[dict[str, Any]]:
        if rng.random() < 0.15:
            return [{"keystrokes": rng.choice(keys), "duration": rng.choice((0.1, 1.0, 30.0))}]
        odd = rng.random() < 0.2
        line = rng.choice(others).format(rng.randrange(3), rng.randrange(60)) if odd else rng.choice(commands)
        return [{"keystrokes": f"{line}\n", "duration": 1.0}]

    return dict(task.state), act


def swe_walk(number: int) -> Walk:
    """Calls of the menu of a generated task, right and wrong ones, and commands of git and the shell."""
    names = sorted(families("swe"))
    task = generate("swe", names[number % len(names)], 1 + number % 3, number)
    parser = ActionParser(load_spec("swe"))
    calls = [parser.parse(action).parsed for action in task.menu if not finishes(action)]
    commands = (
        "git add -A; git commit -qm All",
        "git stash",
        "git stash pop",
        "git commit -am 'All of it'",
        "git checkout -- .",
        "git pull; git push",
        "git revert --no-edit HEAD",
        "mkdir -p a && cp README.md a && chmod 400 a/README.md",
        "rm -rf a",
        "git status; git log --oneline; git diff",
        "sed -i s/def/class/ */*.py",
        "python -m pytest -q",
    )
    calls += [{"name": "run_shell_command", "arguments": {"command": command}} for command in commands]
    return dict(task.state), lambda machine, rng: rng.choice(calls)


WALKS: dict[str, Callable[[int], Walk]] = {
    "android": android_walk,
    "desktop": desktop_walk,
    "mcp": mcp_walk,
    "swe": swe_walk,
    "terminal": terminal_walk,
    "web": web_walk,
}


def exact(domain: str, number: int, strengths: dict[str, float]) -> tuple[bool, bool]:
    """Whether a restored machine went on exactly, and whether the view printed every screen of both."""
    engine, view = load_engine(domain), load_view(domain)
    assert view is not None
    state, act = WALKS[domain](number)
    rng = random.Random(number)
    at, same, printed = rng.randrange(STEPS), True, True
    with closing(engine.start(state, number, Controls(strengths if number % 2 else {}, number))) as machine:
        twin = machine
        for step in range(STEPS):
            if step == at:
                twin = type(machine).restore(json.loads(json.dumps(machine.structured_state())))
            action = act(machine, rng)
            screen = machine.act(action)
            if step >= at:
                same = same and twin.act(action) == screen and list(twin.spans) == list(machine.spans)
                same = same and twin.visible_state() == machine.visible_state()
                printed = printed and view.view(json.loads(json.dumps(twin.visible_state()))) == screen
        same = same and twin.state() == machine.state()
        twin.close()
    return same, printed


def recorded(domain: str, sessions: int, policies: Sequence[PolicyName], split: Split) -> list[Row]:
    """Sessions of some policies."""
    config = SmallModelSessions(policies=dict.fromkeys(policies, 1.0), max_turns=12)
    recorder = Recorder([load_spec(domain)], config, seed=5, split=split)
    return [row for number in range(sessions) if (row := recorder.row(number)) is not None]


def messages(rows: Sequence[Row], form: Form) -> dict[str, list[str]]:
    """The contents of all messages of the sessions in a form, by role."""
    contents: dict[str, list[str]] = {}
    for row in rows:
        for message in cpt_sample(row, prompts_for(row, form=form)).messages:
            contents.setdefault(message["role"], []).append(message["content"])
    return contents


def read_again(rows: Sequence[Row]) -> tuple[int, int, int]:
    """How many answers there are in the state form, how many print their observation, and how many are the view's."""
    count = right = plain = 0
    for row in rows:
        prompts, task = prompts_for(row, form="state"), task_of(row)
        assert task is not None
        assert isinstance(prompts.answers, StateAnswers)
        for turn, observation in zip(rendered_turns(row, prompts, task), row.observations, strict=True):
            before, after, _, action = turn.seen
            answer = prompts.answers.write(task, before, after, action)
            count += 1
            right += prompts.answers.printed(prompts.answers.read(task, before, answer, action)) == observation
            plain += all(part in ("same", 'said = "{}"') for part in answer.split("\n;\n"))
    return count, right, plain


def spread(texts: Sequence[str], size: Callable[[str], int]) -> str:
    """The median, the mean and the ninth decile of the sizes of texts."""
    sizes = sorted(map(size, texts))
    return f"{statistics.median(sizes):5.0f} {statistics.mean(sizes):7.1f} {sizes[len(sizes) * 9 // 10]:5d}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("domain", choices=sorted(WALKS))
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--sessions", type=int, default=24)
    parser.add_argument("--policy", action="append", choices=get_args(PolicyName))
    parser.add_argument("--split", choices=get_args(Split), default="train")
    options = parser.parse_args()
    spec = load_spec(options.domain)
    strengths: dict[str, Any] = {name: 0.1 for name in spec.controls}
    results = [exact(options.domain, number, strengths) for number in range(options.episodes)]
    print(f"restored machines that went on exactly: {sum(same for same, _ in results)} of {len(results)}")
    print(f"episodes whose screens the view printed exactly: {sum(view for _, view in results)} of {len(results)}")
    rows = recorded(options.domain, options.sessions, options.policy or ("expert", "explore"), options.split)
    print(f"{sum(len(row.actions) for row in rows)} steps of {len(rows)} sessions; median, mean, ninth decile")
    count, right, plain = read_again(rows)
    print(f"answers from which the observation is printed again: {right} of {count}; that are the view's: {plain}")
    forms: tuple[Form, ...] = ("full", "change", "state") if spec.turn.restates else ("full", "state")
    for form in forms:
        contents = messages(rows, form)
        tokenizer = build_tokenizer([text for texts in contents.values() for text in texts], 4096)
        for role, texts in contents.items():
            tokens = spread(texts, lambda text: len(tokenizer.encode(text).ids))  # noqa: B023
            print(f"{form:6} {role:9} characters {spread(texts, len)}   tokens {tokens}")


if __name__ == "__main__":
    main()
