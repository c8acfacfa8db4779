"""One environment, as a user of Gymnasium meets it."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import gymnasium as gym
import pytest
from worlds import dream, make, predicted

from agentworld_gym import (
    AgentWorldError,
    ClosedError,
    Failure,
    FailureKind,
    FingerprintMismatch,
    SpecError,
    Task,
    WorldNotConfigured,
    register_world,
)
from agentworld_gym.base.errors import UnknownOption
from agentworld_gym.base.fingerprint import Part
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds.grounded import GroundedSession
from agentworld_gym.worlds.options import LanguageOptions, WorldOptions
from agentworld_gym.worlds.scripted import ScriptedWorld

TASK = {
    "instruction": "Write hello into a.txt.",
    "state": {"cwd": "/home/dev"},
    "success": [
        {"probe": "cat a.txt", "expect": {"equals": "hello"}, "weight": 3},
        {"answer": {"equals": "done"}, "weight": 1},
    ],
}


@pytest.mark.parametrize(("domain", "name"), [("mcp", "-"), ("search", "web_search"), ("swe", "run_shell_command")])
def test_an_environment_tells_what_can_be_called(domain, name):
    env = make(load_spec(domain).env_id, world="grounded")
    env.reset(seed=2)
    assert any(name in tool["name"] and tool["description"] and tool["parameters"] for tool in env.tools)


def test_an_observation_check_is_not_met_by_the_instruction_nor_by_what_cannot_be_read():
    task = {
        "instruction": "Find the file that says: ready to go.",
        "state": {"cwd": "/home/dev", "files": {"/home/dev/b.txt": "ready to go\n"}},
        "success": [{"observation": {"contains": "ready to go"}}],
    }
    for acts, expected in (([], False), (["[{ready to go"], False), (["ls"], False), (["cat b.txt"], True)):
        env = make("AgentWorld/Terminal-v0", world="grounded")
        observation, _ = env.reset(seed=1, options={"task": task})
        assert "ready to go" in observation
        for action in acts:
            env.step(action)
        assert env.step("finish")[4]["success"] is expected, acts


def test_the_first_observation_holds_the_instruction_and_what_the_world_shows():
    env = make(world="grounded")
    observation, info = env.reset(seed=1, options={"task": TASK})
    assert observation == "Write hello into a.txt.\n\ndev@box:~$"
    assert info["instruction"] == "Write hello into a.txt."


def test_a_step_that_costs_nothing_costs_zero():
    env = make("AgentWorld/MCP-v0", world="scripted")
    env.reset(seed=1)
    assert str(env.step("x")[4]["reward_parts"]) == "{'step_cost': 0.0}"


def test_success_is_tested_on_finish_with_partial_credit():
    env = make(world="grounded")
    env.reset(seed=1, options={"task": TASK})
    _, reward, terminated, truncated, info = env.step("echo hello > a.txt")
    assert (terminated, truncated) == (False, False)
    assert "success" not in info
    assert reward == pytest.approx(-0.01)
    _, reward, terminated, truncated, info = env.step("finish: not yet")
    assert (terminated, truncated) == (True, False)
    assert info["success"] is False
    assert info["score"] == pytest.approx(0.75)
    assert info["reward_parts"] == pytest.approx({"step_cost": -0.01, "checks": 0.75})
    assert reward == pytest.approx(0.74)


def test_the_right_answer_and_state_are_a_success():
    env = make(world="grounded")
    env.reset(seed=1, options={"task": TASK})
    env.step("echo hello > a.txt")
    assert env.step("finish: done")[4]["success"] is True


def test_probes_leave_the_episode_untouched():
    task = {**TASK, "success": [{"probe": "rm -f a.txt; ls | wc -l", "expect": {"equals": "7"}, "when": "step"}]}
    env = make(world="grounded")
    env.reset(seed=1, options={"task": task})
    env.step("echo hello > a.txt")
    assert env.step("cat a.txt")[0] == "dev@box:~$ cat a.txt\nhello\ndev@box:~$"


def test_a_check_after_every_step_pays_its_progress_once():
    checks = [
        {"probe": "cat a.txt", "expect": {"equals": "1"}, "when": "step"},
        {"probe": "cat b.txt", "expect": {"equals": "2"}, "when": "step"},
    ]
    env = make(world="grounded")
    env.reset(seed=1, options={"task": {**TASK, "success": checks}})
    rewards = [env.step(action)[1] + 0.01 for action in ("echo 1 > a.txt", "ls", "rm a.txt", "echo 1 > a.txt")]
    assert rewards == pytest.approx([0.5, 0.0, -0.5, 0.5])
    _, _, terminated, _, info = env.step("echo 2 > b.txt")
    assert (terminated, info["success"]) == (True, True)


def test_the_step_limit_is_that_of_the_option_or_of_the_task():
    assert make(world="grounded", max_steps=3).unwrapped.max_steps == 3
    env = make(world="grounded").unwrapped
    with pytest.raises(gym.error.ResetNeeded):
        _ = env.max_steps
    for seed in (0, 5):
        env.reset(seed=seed)
        assert env.max_steps == env.task.max_steps == 2 * len(env.task.expert) + 2


def test_the_step_limit_truncates_and_does_not_count_as_finished():
    env = make(world="grounded", max_steps=2)
    env.reset(seed=1, options={"task": TASK})
    env.step("echo hello > a.txt")
    _, _, terminated, truncated, info = env.step("ls")
    assert (terminated, truncated, info["success"]) == (False, True, False)


def test_confirming_completion_twice_finishes():
    env = make(world="grounded")
    env.reset(seed=1, options={"task": TASK})
    env.step("echo hello > a.txt")
    asked, _, terminated, _, _ = env.step("[]")
    assert not terminated
    assert asked
    assert env.step("[]")[2] is True


def test_an_unreadable_action_costs_no_model_call_and_is_in_no_later_request():
    calls = []
    world = dream("counting", lambda request: calls.append(request) or predicted("ok\ndev@box:~$"))
    env = make(world=world)
    env.reset(seed=1, options={"task": TASK})
    observation, _, _, _, info = env.step('[{"keystrokes": 3}]')
    assert calls == []
    assert info["action_error"] == observation
    env.step("ls")
    assert not any(observation.splitlines()[0] in message["content"] for message in calls[0].messages)


def test_a_failure_truncates_is_never_a_reward_and_can_be_retried():
    answers = iter([Failure(FailureKind.TIMEOUT, "no answer", retryable=True), predicted("ls\na.txt\ndev@box:~$")])
    env = make(world=dream("failing_once", lambda request: next(answers)))
    first, _ = env.reset(seed=1, options={"task": TASK})
    observation, reward, terminated, truncated, info = env.step("ls")
    assert (observation, reward, terminated, truncated) == (first, 0.0, False, True)
    assert info["failure"] == {"kind": "timeout", "message": "no answer", "retryable": True}
    assert "success" not in info
    assert env.step("ls")[0] == "ls\na.txt\ndev@box:~$"


def test_a_failed_probe_leaves_success_absent():
    answers = iter([Failure(FailureKind.SERVER, "error 500"), predicted("x")])
    env = make(world=dream("failing_probe", lambda request: next(answers)))
    env.reset(seed=1, options={"task": TASK})
    _, reward, terminated, truncated, info = env.step("finish: done")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert "success" not in info
    assert "a probe failed" in info["failure"]["message"]


@pytest.mark.parametrize("answer", ["", "<think>only this"])
def test_a_completion_without_an_observation_is_a_failure(answer):
    env = make(world=dream("empty", lambda request: answer))
    env.reset(seed=1, options={"task": TASK})
    assert env.step("ls")[4]["failure"]["kind"] == "empty"


def test_an_observation_may_be_empty_where_its_tags_say_so():
    env = make(world=dream("silent", lambda request: "<predicted_observation></predicted_observation>"))
    env.reset(seed=1, options={"task": TASK})
    observation, _, terminated, truncated, info = env.step("ls")
    assert (observation, terminated, truncated) == ("", False, False)
    assert "failure" not in info


def test_a_fork_goes_its_own_way_and_keeps_the_step_limit():
    env = make(world="grounded", max_steps=3)
    env.reset(seed=1, options={"task": TASK})
    env.step("touch both")
    twin = env.fork()
    env.step("touch mine")
    assert "mine" not in twin.step("ls")[0]
    assert twin.step("ls")[3] is True
    env.close()
    assert twin.render_mode is None
    twin.close()


def test_forks_of_a_language_world_send_equal_requests():
    sent = []
    env = make(world=dream("spy", lambda request: sent.append(request.messages) or predicted("x\ndev@box:~$")))
    env.reset(seed=1, options={"task": TASK})
    env.step("ls")
    twin = env.fork()
    env.step("pwd")
    twin.step("pwd")
    assert sent[1] == sent[2]


def test_a_pinned_world_refuses_another():
    env = make(world="grounded")
    expected = env.world.fingerprint
    make(world="grounded", lock=expected.digest).close()
    with pytest.raises(FingerprintMismatch, match=r"world: expected grounded, got scripted"):
        make(world="scripted", lock=expected.as_dict())


def test_the_environments_own_spec_says_whether_its_world_is_deterministic():
    assert gym.make("AgentWorld/Terminal-v0", world="grounded").spec.nondeterministic is False
    register_world("sampled", lambda options: options.language(ScriptedGenerator(str, deterministic=False)))
    assert gym.make("AgentWorld/Terminal-v0", world="sampled").spec.nondeterministic is True


def test_a_domain_without_a_grounded_world_says_what_to_pass(monkeypatch):
    monkeypatch.delenv("AGENTWORLD_WORLD", raising=False)
    spec = Path(__file__).resolve().parents[2] / "examples" / "custom_domain" / "spec.yaml"
    with pytest.raises(WorldNotConfigured, match=r"vllm:MODEL.*AGENTWORLD_WORLD"):
        gym.make("AgentWorld/Custom-v0", spec=str(spec))


def test_the_default_world_can_be_set_from_outside(monkeypatch):
    monkeypatch.setenv("AGENTWORLD_WORLD", "scripted")
    assert gym.make("AgentWorld/Web-v0").reset(seed=1)[0]


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"wrld": "grounded"}, "wrld.*did you mean world"),
        ({"guard": {"least": 0.9}}, r"guard: got .*, expected language=\{'guard': …\}"),
        ({"order": "run.jsonl"}, r"order: got 'run\.jsonl', expected world='record:PATH\+WORLD'"),
        ({"few_shots": True}, r"few_shots: got True, expected recorded calls that the spec names"),
        ({"scenario": "shop"}, r"scenario: got 'shop', expected world_options=\{'scenario': …\}"),
        ({"language": {"gaurd": {"least": 0.9}}}, r"language\.gaurd: got .*, expected one of .*; did you mean guard\?"),
        ({"language": {3: 4}}, r"language\.3"),
        ({"language": "change"}, "language: got 'change', expected options by name"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": "10"}, "max_steps: got '10', expected an integer of at least 1"),
        ({"max_steps": 10.0}, "max_steps"),
        ({"max_steps": True}, "max_steps"),
        ({"spec": 3}, "spec"),
        ({"world": None}, "world"),
        ({"levels": 1}, "levels"),
        ({"levels": "1"}, "levels"),
        ({"levels": [True]}, "levels"),
        ({"families": "archive"}, "families: got 'archive', expected a list"),
        ({"families": 3}, "families"),
        ({"task": 3}, "task"),
        ({"language": {"sampling": ["temperature"]}}, "sampling"),
        ({"language": {"generator": "deadline_s"}}, "generator"),
        ({"language": {"system_prompt": 3}}, "system_prompt"),
        ({"language": {"prompts": 3}}, "prompts"),
        ({"judge": None}, "judge"),
        ({"traces": 3}, "traces"),
        ({"lock": 3}, "lock"),
        ({"lock": {"world": 1}}, "lock"),
        (
            {"language": {"form": "change"}, "world": "scripted"},
            "language.form: got 'change', expected None: only a language world has a form",
        ),
        ({"language": {"form": "full"}, "world": "grounded"}, "form"),
        ({"levels": [6]}, "levels"),
        ({"split": "dev"}, "split"),
        ({"task": "no-such-task"}, "task"),
        ({"families": ["no_such_family"]}, "families"),
        ({"controls": {"gremlins": 0.5}}, "controls"),
        ({"controls": ["intermittent-errors"]}, "controls"),
        ({"language": {"sampling": {"warmth": 1}}}, "sampling"),
        ({"language": {"profile": "tiny"}}, "profile"),
        ({"language": {"prompts": "/no/such/folder"}}, "prompts"),
        ({"language": {"sampling": {"temperature": "hot"}}}, "temperature"),
        ({"render_mode": "hologram"}, "render_mode"),
    ],
)
def test_a_wrong_option_names_itself(options, key):
    with pytest.raises(SpecError, match=key):
        make(**{"world": dream("any", str), **options})


def test_an_unknown_option_is_the_same_error_on_each_level():
    for make_options in (lambda: LanguageOptions(gaurd=1), lambda: EnvOptions(spec="terminal", language={"gaurd": 1})):
        with pytest.raises(UnknownOption, match=r"options: language\.gaurd: got 1, .*; did you mean guard\?") as caught:
            make_options()
        assert caught.value.key == "language.gaurd"


def test_only_an_environment_takes_a_render_mode():
    with pytest.raises(UnknownOption, match="render_mode") as caught:
        EnvOptions(spec="terminal", render_mode="ansi")
    assert "render_mode" not in caught.value.expected
    with pytest.raises(UnknownOption, match=r"one of .* render_mode.*; did you mean render_mode\?"):
        EnvOptions.of("AgentWorldEnv", {"spec": "terminal", "rendermode": "ansi"})


def test_no_options_of_language_worlds_and_those_of_a_factory_are_language_options():
    assert EnvOptions(spec="terminal", language=None).language == LanguageOptions()
    given = WorldOptions(load_spec("terminal"), form="change", world_options={"speed": 2})
    options = EnvOptions(spec="terminal", language=given, world=dream("any", str))
    assert type(options.language) is LanguageOptions and options.language.form == "change"
    options.runner().close()


def test_a_recorder_has_a_form_only_where_its_world_has_one(tmp_path):
    with pytest.raises(SpecError, match="only a language world has a form"):
        make(world=f"record:{tmp_path / 'episodes.jsonl'}+scripted", language={"form": "change"})
    make(world=f"record:{tmp_path / 'dreams.jsonl'}+{dream('any', str)}", language={"form": "change"}).close()


class WorldWithTasks(ScriptedWorld):
    """A world that brings one task, and is its own pool of it."""

    truth, versions = None, {}
    task = Task(id="own-0", domain="terminal", **TASK)

    @property
    def tasks(self):
        return self

    def foreseen(self):
        return [self.task]

    def pick(self, seed):
        return self.task

    def find(self, name):
        return self.task if name == self.task.id else None

    def without_judge(self):
        pass


@pytest.mark.parametrize("handle", ["own", "record:{}+own"])
def test_a_registered_world_may_bring_its_tasks_and_takes_options_of_its_own(handle, tmp_path):
    given = []

    def factory(options):
        given.append(options.world_options)
        return WorldWithTasks(parts={"world": Part("own", True)})

    register_world("own", factory)
    env = make(world=handle.format(tmp_path / "r.jsonl"), world_options={"speed": 2}, task="own-0")
    assert given == [{"speed": 2}]
    env.reset(seed=3)
    assert env.task.id == "own-0"
    env.close()


def test_a_registered_world_without_tasks_takes_options_of_its_own_beside_the_tasks_of_the_domain():
    register_world("own", lambda options: ScriptedWorld())
    env = make(world="own", world_options={"speed": 2}, families=["archive"])
    assert env.reset(seed=3)[1]["task_id"].startswith("archive-")
    env.close()


def test_a_domain_without_scenarios_takes_no_options_of_worlds():
    with pytest.raises(SpecError, match=r"world_options\.speed: got 2, expected None: .* in terminal"):
        make(world="grounded", world_options={"speed": 2})


def test_every_seed_of_one_family_and_level_gives_another_task():
    env = make(world="scripted")
    tasks = []
    for seed in range(12):
        env.reset(seed=seed, options={"family": "archive", "level": 2})
        tasks.append(env.task.id)
    assert len(set(tasks)) == 12
    assert all(name.startswith("archive-2-") for name in tasks)
    env.close()


def test_using_it_in_the_wrong_order_says_so():
    env = make(world="scripted")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("ls")
    env.reset(seed=1)
    with pytest.raises(SpecError, match="a string"):
        env.step(3)
    env.close()
    env.close()
    with pytest.raises(ClosedError):
        env.step("ls")


def test_an_episode_that_has_ended_takes_no_more_steps():
    env = make(world="scripted")
    env.reset(seed=1)
    env.step("finish")
    with pytest.raises(gym.error.ResetNeeded, match="has ended"):
        env.step("ls")


def test_a_copy_in_the_middle_of_an_episode_is_a_fork_and_another_process_gets_a_fresh_one():
    env = make(world="grounded")
    env.reset(seed=1, options={"task": TASK})
    env.step("touch a.txt")
    assert copy.deepcopy(env).step("ls")[0] == env.step("ls")[0]
    with pytest.warns(UserWarning, match="episode under way is not pickled"):
        fresh = pickle.loads(pickle.dumps(env))
    with pytest.raises(gym.error.ResetNeeded):
        fresh.step("ls")
    assert fresh.reset(seed=3) == env.reset(seed=3) and fresh.spec == env.spec


@pytest.mark.filterwarnings("error")
def test_nothing_is_lost_where_no_episode_is_under_way():
    env = make(world="scripted")
    pickle.dumps(env)
    env.reset(seed=1)
    env.step("finish")
    pickle.dumps(env)
    env.reset(seed=1)
    env.close()
    pickle.dumps(env)


def test_rendering_shows_the_episode_so_far(capsys):
    env = make(world="grounded", render_mode="ansi")
    env.reset(seed=1, options={"task": TASK})
    env.step("pwd")
    assert env.render() == "Write hello into a.txt.\n\ndev@box:~$\n> pwd\ndev@box:~$ pwd\n/home/dev\ndev@box:~$"
    human = make(world="grounded", render_mode="human")
    human.reset(seed=1, options={"task": TASK})
    human.step("pwd")
    assert capsys.readouterr().out.endswith("> pwd\ndev@box:~$ pwd\n/home/dev\ndev@box:~$\n")


def test_seeds_fix_the_task_and_splits_share_none():
    tasks = {split: set() for split in ("train", "validation", "test")}
    for split, found in tasks.items():
        env = make(world="grounded", split=split)
        for seed in range(40):
            found.add(env.reset(seed=seed)[1]["task_id"])
    assert len(tasks["train"] | tasks["validation"] | tasks["test"]) == sum(map(len, tasks.values()))
    env = make(world="grounded")
    assert env.reset(seed=3) == env.reset(seed=3)


def test_a_language_world_is_told_its_controls():
    systems = []
    world = dream("told", lambda request: systems.append(request.messages[0]["content"]) or predicted("x"))
    env = make(world=world)
    for options in ({"task": TASK}, {"task": TASK, "controls": {"permission-denied": 0.3}}):
        env.reset(seed=1, options=options)
        env.step("ls")
    assert systems[0] != systems[1]
    with pytest.raises(SpecError, match=r"controls\.permission-denied"):
        env.reset(seed=1, options={"task": TASK, "controls": {"permission-denied": 2}})


UNREADABLE = [
    ({"menu": ["finish", "blah"]}, "menu.1: got 'blah'"),
    ({"expert": ["blah"]}, "expert.0: got 'blah'"),
    ({"success": [{"probe": ["noop()", "blah @{link 'Cart'}"], "expect": {"contains": "a"}}]}, "success.0.probe"),
]


@pytest.mark.parametrize(("fields", "names"), UNREADABLE)
def test_a_task_whose_actions_cannot_be_read_is_refused(tmp_path, fields, names):
    task = {"instruction": "Look.", "success": [{"answer": {"equals": "x"}}], **fields}
    path = tmp_path / "look.yaml"
    path.write_text(json.dumps(task))
    env = make("AgentWorld/Web-v0", world="scripted")
    for given in (task, Task(id="look", domain="web", **task), str(path)):
        with pytest.raises(SpecError, match=names):
            env.reset(seed=0, options={"task": given})
    env.close()


def test_a_task_whose_locators_can_be_read_is_accepted():
    probe = {"probe": "click('@{link 'Cart'}')", "expect": {"contains": "a"}}
    env = make("AgentWorld/Web-v0", world="scripted")
    env.reset(seed=0, options={"task": {"instruction": "Look.", "success": [probe]}})
    assert env.task.success[0].probes == (probe["probe"],)
    env.close()


def test_scripted_worlds_of_two_domains_have_fingerprints_of_their_own():
    envs = [make(env_id, world="scripted") for env_id in ("AgentWorld/Web-v0", "AgentWorld/Terminal-v0")]
    assert len({env.world.fingerprint.digest for env in envs}) == 2
    for env in envs:
        env.close()


TOOL_DOMAINS = ["AgentWorld/MCP-v0", "AgentWorld/Search-v0", "AgentWorld/SWE-v0", "AgentWorld/Web-v0"]


@pytest.mark.parametrize("env_id", TOOL_DOMAINS)
def test_info_holds_the_tools_of_the_task_after_a_reset(env_id):
    env = make(env_id, world="grounded")
    _, info = env.reset(seed=2)
    assert info["tools"] == list(env.tools) and len(info["tools"]) > 2
    info["tools"][0]["name"] = "overwritten"
    assert env.tools[0]["name"] != "overwritten"
    assert "tools" not in env.step("finish")[4]


def test_a_domain_without_tools_has_none_in_info():
    assert "tools" not in make(world="grounded").reset(seed=2)[1]


@pytest.mark.parametrize("env_id", ["AgentWorld/MCP-v0", "AgentWorld/SWE-v0"])
def test_samples_without_a_menu_are_calls_of_the_tools(env_id):
    env = make(env_id, world="grounded")
    env.reset(seed=2)
    task = env.task.model_copy(update={"menu": ()})
    env.reset(seed=2, options={"task": task})
    env.action_space.seed(0)
    names = {json.loads(action)["name"] for action in (env.action_space.sample() for _ in range(300))}
    assert names <= {tool["name"] for tool in env.tools} and len(names) > len(env.tools) / 2


def test_samples_follow_the_screen_and_survive_a_copy_of_the_space():
    env = make("AgentWorld/Android-v0", world="grounded")
    env.reset(seed=1)
    first = {env.action_space.sample() for _ in range(40)}
    opened = next(entry for entry in env.menu if entry and "open_app" in entry)
    env.step(opened)
    env.action_space.seed(3)
    twin = pickle.loads(pickle.dumps(env.action_space))
    later = [env.action_space.sample() for _ in range(40)]
    assert set(later) <= {entry for entry in env.menu if entry} and set(later) != first
    assert later == [twin.sample() for _ in range(40)]


def test_a_fork_samples_from_its_own_episode():
    env = make(world="grounded")
    env.reset(seed=1)
    twin = env.fork()
    env.reset(seed=2)
    assert {twin.action_space.sample() for _ in range(40)} <= set(twin.task.menu)


@pytest.mark.parametrize("defect", [KeyError("lamps"), FileNotFoundError(2, "No such file"), RuntimeError("no room")])
def test_a_defect_of_an_engine_at_the_start_names_domain_task_and_exception(defect, monkeypatch):
    def start(cls, state, *_):
        if state.get("cwd") == "/broken":
            raise defect
        return plain(state, *_)

    env = gym.make("AgentWorld/Terminal-v0", world="grounded")
    engine = env.unwrapped.world.engine
    plain = engine.start
    monkeypatch.setattr(engine, "start", classmethod(start).__get__(engine), raising=False)
    broken = {**TASK, "id": "broken", "state": {"cwd": "/broken"}}
    with pytest.raises(
        AgentWorldError, match=f"terminal cannot begin task broken: .*{type(defect).__name__}: "
    ) as told:
        env.reset(seed=0, options={"task": broken})
    assert str(defect) in str(told.value)
    [failure] = env.unwrapped.world.begin([Task(domain="terminal", **broken)], [0])
    assert failure.kind is FailureKind.ENGINE and str(defect) in failure.message
    many = gym.make_vec("AgentWorld/Terminal-v0", num_envs=3, world="grounded")
    source, one = many.unwrapped.runner.source, Task(domain="terminal", **broken)
    drawn = source.pick
    monkeypatch.setattr(source, "pick", lambda seed, options: one if seed == 1 else drawn(seed, options))
    monkeypatch.setattr(many.unwrapped.runner.world, "engine", engine)
    ended = list[GroundedSession]()
    monkeypatch.setattr(GroundedSession, "close", lambda session: ended.append(session))
    with pytest.raises(AgentWorldError, match="terminal cannot begin task broken: "):
        many.reset(seed=0)
    assert len(ended) == 2, "the members before and behind the one that fails"
