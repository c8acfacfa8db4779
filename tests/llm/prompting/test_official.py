"""Official prompts from a user's folder, filled as in the rows of AgentWorldBench."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import pytest

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.contracts import Action
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.registration import official_name
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.judging.bench_rows import BenchRow
from agentworld_gym.llm.judging.judge import Judge, judge_digest, judge_messages
from agentworld_gym.llm.prompting.official import CLOSING, JUDGE, SCRIPT, SYSTEM, VARIABLE, OfficialPrompts, filled
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.tool_definitions import tool_definitions
from agentworld_gym.worlds.options import WorldOptions

CHECKOUT = Path(__file__).resolve().parents[4] / "shared/official/prompts"
every_domain = pytest.mark.parametrize("domain", DOMAINS)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A folder laid out as the official one, in other words."""
    folder = tmp_path / "prompts"
    for domain in DOMAINS:
        own = folder / official_name(domain)
        own.mkdir(parents=True)
        places = {"mcp": "{tool_definitions}\n\n# End\n{demonstrations}", "swe": "{tool_definitions}\n{demonstrations}"}
        own.joinpath(SYSTEM).write_text(f"# You are {{{domain}}}\n{places.get(domain, 'Answer.')}")
        own.joinpath(JUDGE).write_text(f"# You judge {domain}\n")
    return folder


@pytest.fixture(name="official")
def _official(folder: Path) -> OfficialPrompts:
    return OfficialPrompts(folder)


@every_domain
def test_a_system_message_is_the_filled_template_with_what_the_task_tells_behind(
    domain: str, official: OfficialPrompts
) -> None:
    _check(domain, official)


@every_domain
@pytest.mark.skipif(not CHECKOUT.is_dir(), reason="no official prompts beside the repository")
def test_the_official_templates_are_filled(domain: str) -> None:
    _check(domain, OfficialPrompts(CHECKOUT))


def _check(domain: str, official: OfficialPrompts) -> None:
    spec = load_spec(domain)
    task, prompts = spec.handwritten_tasks()[0], Prompts(spec, PromptOptions(official=official))
    few_shots = prompts.system_message.few_shots(task)
    by_hand = official.system(domain).replace("{tool_definitions}", tool_definitions([*spec.action.tools, *task.tools]))
    by_hand = by_hand.replace("{demonstrations}", f"\n{few_shots}" if few_shots else "")
    told = prompts.system(task)
    assert told.startswith(f"{by_hand}\n\n---\n\n# This Episode\n\n## Initial state\n\n")
    bare = task.model_copy(update={"state": {}, "hidden": {}})
    beyond = prompts.system(bare).removeprefix(by_hand)
    assert (beyond == "") is (spec.turn.instruction == "first")
    assert beyond == "" or task.instruction in beyond
    assert Prompts(spec).digest != prompts.digest == pickle.loads(pickle.dumps(prompts)).digest
    assert Prompts(spec).closing == prompts.closing


def test_a_closing_request_beside_the_templates_ends_every_request(folder: Path, official: OfficialPrompts) -> None:
    spec = load_spec("terminal")
    task, ours = spec.handwritten_tasks()[0], Prompts(spec, PromptOptions(official=official))
    (folder / CLOSING).write_text("\n\nSay what follows.\n\nWrap it.\n")
    prompts = Prompts(spec, PromptOptions(official=official))
    assert prompts.closing == "\n\nSay what follows.\n\nWrap it."
    assert prompts.digest != ours.digest
    [*before, last] = prompts.messages(task, [(Action("ls"), "$ ls")], Action("pwd"))
    [*same, other] = ours.messages(task, [(Action("ls"), "$ ls")], Action("pwd"))
    assert before == same
    assert last["content"].removesuffix(prompts.closing) == other["content"].removesuffix(ours.closing)
    (folder / "terminal" / CLOSING).write_text("The terminal's own.")
    assert Prompts(spec, PromptOptions(official=official)).closing == "\n\nThe terminal's own."
    assert Prompts(load_spec("web"), PromptOptions(official=official)).closing == prompts.closing
    (folder / "terminal" / CLOSING).write_text("\n")
    with pytest.raises(SpecError, match=CLOSING):
        Prompts(spec, PromptOptions(official=official))


def test_an_environment_says_where_the_folder_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("AGENTWORLD_CACHE", str(tmp_path))
    with pytest.raises(SpecError, match=VARIABLE):
        gym.make("AgentWorld/Terminal-v0", world="tiny", language={"prompts": "official"})


@pytest.mark.parametrize("judge", ["same", "none"])
def test_prompts_that_nobody_reads_are_refused(judge: str, folder: Path) -> None:
    options = EnvOptions(spec="terminal", world="grounded", language={"prompts": f"official:{folder}"}, judge=judge)
    with pytest.raises(SpecError, match="only a language world, or a judge, reads prompts, not grounded"):
        options.runner()


def test_judge_prompts_are_looked_for_before_they_are_needed(folder: Path, official: OfficialPrompts) -> None:
    official.need_judges([])
    official.need_judges(["terminal", "desktop"])
    (folder / "os" / JUDGE).unlink()
    with pytest.raises(MissingFile, match=f"os/{JUDGE}"):
        official.need_judges(["terminal", "desktop"])
    with pytest.raises(MissingFile, match=JUDGE):
        OfficialPrompts(folder / "wrong").need_judges([])


def test_an_option_names_a_folder_or_takes_that_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("AGENTWORLD_CACHE", str(tmp_path / "empty"))
    with pytest.raises(SpecError, match=VARIABLE):
        OfficialPrompts.named("official")
    monkeypatch.setenv(VARIABLE, str(folder))
    assert OfficialPrompts.named("official") == OfficialPrompts.named(f"official:{folder}") == OfficialPrompts(folder)
    assert OfficialPrompts.named("official:~/prompts") == OfficialPrompts(Path.home() / "prompts")
    assert OfficialPrompts.named("prompts") is OfficialPrompts.named(None) is OfficialPrompts.named(folder) is None
    options = EnvOptions(spec="terminal", language={"prompts": "official"})
    assert options.keywords()["language"] == {"prompts": "official"}
    world = WorldOptions(load_spec("terminal"), prompts="official")
    assert world.folder is None
    assert world.templates().system(load_spec("terminal").handwritten_tasks()[0]).startswith("# You are {terminal}\n")


def test_a_wrong_folder_is_a_typed_error_that_names_the_missing_file(folder: Path) -> None:
    with pytest.raises(MissingFile, match=r"elsewhere/terminal/system_prompt\.txt"):
        WorldOptions(load_spec("terminal"), prompts=f"official:{folder / 'elsewhere'}").templates()
    (folder / "os" / SYSTEM).unlink()
    with pytest.raises(MissingFile, match=r"os/system_prompt\.txt"):
        Prompts(load_spec("desktop"), PromptOptions(official=OfficialPrompts(folder)))
    (folder / "mcp" / SYSTEM).write_bytes(b"\xff")
    with pytest.raises(SpecError, match=r"mcp/system_prompt\.txt"):
        Prompts(load_spec("mcp"), PromptOptions(official=OfficialPrompts(folder)))


@pytest.mark.parametrize("more", [{"profile": "compact"}, {"form": "change"}, {"system": "You are."}, {"wording": 1}])
def test_what_no_official_prompt_tells_of_is_refused(official: OfficialPrompts, more: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="prompts"):
        Prompts(load_spec("web"), PromptOptions(official=official, **more))  # type: ignore[arg-type]


def test_what_is_filled_in_is_not_filled_again() -> None:
    assert filled("{tool_definitions}|{demonstrations}", "{demonstrations}", "{tool_definitions}") == (
        "{demonstrations}|{tool_definitions}"
    )


class TestJudge:
    ROW = BenchRow(
        ("desktop", "a", 2, 1),
        tuple(
            {"role": role, "content": content}
            for role, content in (
                ("system", "SYSTEM"),
                ("user", "### Turn 1\nA"),
                ("assistant", "**Environment Observation:**\nB"),
                ("user", "### Turn 2\nC, please"),
            )
        ),
        "### Turn 2\nC",
        "truth {context}",
    )

    HISTORY = "# Context (Historical Interactions):\n\n### Turn 1\nA\n**Environment Observation:**\nB\n\n\n\n"
    SHOWN = (
        "# Current Turn:\n\n### Turn 2\nC\n\n"
        "**World Model Output (Simulated):**\n```\n<\\think>```prediction\n```\n\n"
        "**Ground Truth (Real Output):**\n```\ntruth {context}\n```\n\n"
    )

    def test_a_judge_gets_what_the_official_script_sends(self, official: OfficialPrompts) -> None:
        system, user = judge_messages(self.ROW, "<think>```prediction\n", official)
        assert system["content"] == "# You judge desktop\n"
        assert user["content"].startswith(self.HISTORY + self.SHOWN)
        assert user["content"].endswith("</final_evaluation>")

    def test_a_first_turn_has_no_history(self, official: OfficialPrompts) -> None:
        row = replace(self.ROW, request=self.ROW.request[-1:])
        assert judge_messages(row, "p", official)[1]["content"].startswith("# Current Turn:\n\n### Turn 2\nC\n\n")

    def test_the_request_of_a_checkout_is_taken_as_it_is(self, official: OfficialPrompts, folder: Path) -> None:
        own = judge_messages(self.ROW, "p", official), Judge(ScriptedGenerator(lambda _: ""), official=official)
        digest, script = own[1].prompts_digest, folder.parent / SCRIPT
        script.parent.mkdir(parents=True)
        places = "{context}\n\n{world_model_input}\n\n{predicted_observation}\n\n{ground_truth}"
        script.write_text(f'import nothing\nJUDGE_USER_PROMPT = """{places}\n\nSay {{{{"scores": 1}}}}."""\n')
        system, user = judge_messages(self.ROW, "<think>```prediction\n", official)
        assert system == own[0][0]
        assert user["content"] == self.HISTORY + self.SHOWN + 'Say {"scores": 1}.'
        assert own[1].prompts_digest != digest

    @pytest.mark.parametrize(("text", "says"), [("JUDGE_USER_PROMPT = (", "Python"), ("{wrong}", "only context")])
    def test_a_request_that_cannot_be_filled_is_a_typed_error(
        self, official: OfficialPrompts, folder: Path, text: str, says: str
    ) -> None:
        script = folder.parent / SCRIPT
        script.parent.mkdir(parents=True)
        script.write_text(text if "=" in text else f"JUDGE_USER_PROMPT = {text!r}")
        with pytest.raises(SpecError, match=says):
            judge_messages(self.ROW, "p", official)

    def test_its_digest_names_its_prompts(self, official: OfficialPrompts, folder: Path) -> None:
        own, theirs = (Judge(ScriptedGenerator(lambda _: ""), official=given) for given in (None, official))
        assert judge_digest(own) != judge_digest(theirs) and own.prompts_digest != theirs.prompts_digest
        before = theirs.prompts_digest
        (folder / "swe" / JUDGE).write_text("other words")
        assert theirs.prompts_digest != before
