"""Bundled models: each says in its `world.yaml` what it knows, and `world="tiny"` takes the right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_model import write_tiny_model
from typer.testing import CliRunner

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.cli.app import app
from agentworld_gym.cli.serve import _usage
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.bundled_models import bundled_model, bundled_models, named_model, tiny_model
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world

if not bundled_models():
    pytest.skip("this installation has no bundled model", allow_module_level=True)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The handles of the generators that are opened; none of them loads a model."""
    handles: list[str] = []

    def scripted(self: WorldOptions, handle: str) -> ScriptedGenerator:
        handles.append(Path(handle).name)
        return ScriptedGenerator(lambda _: "")

    monkeypatch.setattr(WorldOptions, "open_generator", scripted)
    return handles


@pytest.mark.parametrize(
    ("domain", "asked", "name", "form"),
    [
        ("android", {}, "tiny-android-state", "state"),
        ("android", {"form": "state"}, "tiny-android-state", "state"),
        ("terminal", {}, "tiny-terminal-state", "state"),
        ("terminal", {"profile": "compact"}, "tiny-terminal-state", "state"),
        ("swe", {}, "tiny-swe-state", "state"),
        ("web", {}, "tiny-web-state", "state"),
        ("desktop", {}, "tiny-desktop-state", "state"),
        ("mcp", {}, "tiny-mcp-state", "state"),
        ("search", {}, "tiny-search", "full"),
    ],
)
def test_tiny_takes_the_model_of_the_domain_and_asks_it_as_it_was_trained(
    opened: list[str], domain: str, asked: dict[str, Any], name: str, form: str
) -> None:
    world = open_world("tiny", WorldOptions(load_spec(domain), **asked))
    assert opened == [name]
    assert (world.prompts.profile, world.prompts.form) == ("compact", form)
    assert world.sampling.temperature == 0 and not world.sampling.thinking


@pytest.mark.parametrize(
    ("domain", "asked", "says"),
    [
        (
            "terminal",
            {"profile": "full"},
            "profile: got 'full', expected 'compact', as the bundled model tiny-terminal-state",
        ),
        ("web", {"form": "change"}, "form: got 'change', expected 'state', as the bundled model tiny-web-state"),
        ("swe", {"form": "full"}, "form: got 'full', expected 'state', as the bundled model tiny-swe-state"),
        ("search", {"form": "change"}, "form: got 'change', expected 'full', as the bundled model tiny-search"),
    ],
)
def test_what_a_model_does_not_do_is_an_error_that_names_both(domain: str, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError) as refused:
        open_world("tiny", WorldOptions(load_spec(domain), **asked))
    assert says in str(refused.value)


@pytest.mark.parametrize("domain", ["android:droidrun", "swe:claude-code", "mcp:mcpmark"])
@pytest.mark.parametrize("asked", [{}, {"form": "full"}])
def test_no_small_model_knows_another_dialect_than_the_first(domain: str, asked: dict[str, Any]) -> None:
    first, _, dialect = domain.partition(":")
    says = f"no small model knows the dialect '{dialect}' of .*; tiny-{first}-state knows the first one"
    for handle in ("tiny", f"tiny-{first}-state"):
        with pytest.raises(WorldNotConfigured, match=says):
            open_world(handle, WorldOptions(load_spec(domain), **asked))


def test_a_model_can_be_taken_by_its_name_in_the_domain_that_it_knows(opened: list[str]) -> None:
    world = open_world("tiny-terminal-state", WorldOptions(load_spec("terminal"), sampling={"max_tokens": 64}))
    assert opened == ["tiny-terminal-state"] and world.sampling.max_tokens == 64
    with pytest.raises(WorldNotConfigured, match=r"does not know AgentWorld/MCP-v0; bundled are: .*tiny-terminal"):
        open_world("tiny-terminal-state", WorldOptions(load_spec("mcp")))
    with pytest.raises(SpecError, match="form: got 'full', expected 'state'"):
        open_world("tiny-terminal-state", WorldOptions(load_spec("terminal"), form="full"))


def test_the_fingerprint_tells_the_options_of_one_model_apart(opened: list[str]) -> None:
    spec, folder = load_spec("android"), bundled_models()["tiny-android-state"].folder
    worlds = [
        open_world(f"transformers:{folder}", WorldOptions(spec, **asked))
        for asked in ({}, {"form": "change"}, {"form": "state"})
    ]
    first, change, state = (world.fingerprint.digest for world in worlds)
    assert first == state != change


def test_every_domain_has_a_model_and_every_model_can_be_found() -> None:
    for domain in DOMAINS:
        assert tiny_model(domain) == bundled_model("tiny", load_spec(domain), {}).folder
    for name, model in bundled_models().items():
        assert named_model(name) == named_model(f"transformers:{model.folder}") == model
        for domain in model.domains:
            assert model.contrary(load_spec(domain), model.options(load_spec(domain))) is None


def test_the_server_prints_how_to_ask_the_model_that_it_serves() -> None:
    models = bundled_models()
    assert _usage(models["tiny-android-state"]) == (
        "AgentWorld/Android-v0",
        ", language={'profile': 'compact', 'form': 'state', "
        "'sampling': {'temperature': 0.0, 'thinking': False, 'max_tokens': 2048, 'reasks': 4}}",
    )
    env_id, options = _usage(models["tiny-search"])
    assert env_id == "AgentWorld/Search-v0" and "form" not in options


def test_the_name_that_takes_a_model_in_each_domain_cannot_be_served() -> None:
    refused = CliRunner().invoke(app, ["serve", "tiny", "--dry-run"])
    assert refused.exit_code != 0 and "is the name of none; it is one of: tiny-android-state" in refused.output


def card(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir()
    (folder / name / "config.json").write_text("{}")
    (folder / name / "world.yaml").write_text(text)
    return folder


def test_a_further_specialist_needs_a_folder_and_no_code(tmp_path: Path) -> None:
    card(tmp_path, "all", "domains: [search, terminal]")
    card(tmp_path, "tiny-search", "domains: [search]\nsampling: {max_tokens: 512}")
    card(tmp_path, "tiny-terminal", "domains: [terminal]\nforms: {terminal: state}")
    (tmp_path / "no-model").mkdir()
    assert list(bundled_models(tmp_path)) == ["tiny-terminal", "tiny-search", "all"]
    assert bundled_models(tmp_path)["tiny-search"].sampling == {"max_tokens": 512}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("domains: []", "domains"),
        ("form: state", "domains"),
        ("domains: [web]\nforms: {android: state}", "forms.android.*expected one of the domains of the model: web"),
        ("domains: [web]\nsampling: {temperature: -1}", "sampling"),
        ("domains: [web]\nprofile: small", "profile: got 'small'"),
        ("domains: [web]\nfolder: x", "folder: got 'x', expected no such key"),
        ("domains: [web]\nsampling: {heat: 1}", "sampling.heat: got 1, expected no such key"),
        ("domains: [web]\ndomains: [terminal]", "line 2: got 'the key domains stands there twice'"),
        ("domains: [web]\nsampling: {top_k: 1, top_k: 2}", "line 2: got 'the key top_k stands there twice'"),
        ("domains: [web, web]", "domains: got .*, expected each domain once"),
        ("domains: [web]\nprofile: full\nforms: {web: state}", "forms.web: got 'state', expected full or change"),
        ("- web", "file"),
    ],
)
def test_a_wrong_card_is_an_error_that_names_file_and_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says) as refused:
        bundled_models(card(tmp_path, "mine", text))
    assert "world.yaml" in str(refused.value)


def test_a_model_of_a_users_own_is_asked_as_its_card_says(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "mine", context=8192)
    (folder / "world.yaml").write_text(
        "domains: [terminal, web]\nforms: {web: change}\nsampling: {thinking: false, max_tokens: 9}"
    )
    handle = f"transformers:{folder}"

    def opened(domain: str, **options: Any) -> LanguageWorld:
        world = open_world(handle, WorldOptions(load_spec(domain), **options))
        assert isinstance(world, LanguageWorld)
        return world

    carded = opened("terminal")
    assert (carded.prompts.profile, carded.prompts.form) == ("compact", "full")
    assert (carded.sampling.thinking, carded.sampling.max_tokens) == (False, 9)
    assert opened("web").prompts.form == "change"
    asked = opened("terminal", profile="full", sampling={"max_tokens": 7})
    assert (asked.prompts.profile, asked.sampling.max_tokens, asked.sampling.thinking) == ("full", 7, False)
    unknown = opened("mcp")
    assert (unknown.prompts.profile, unknown.sampling.thinking) == ("full", True)


@pytest.mark.parametrize("junk", ["{", "- web", "junk", "\x00", "domains: [web]\nwords: 3"])
def test_junk_in_the_card_of_a_users_own_model_is_an_error(tmp_path: Path, junk: str) -> None:
    folder = write_tiny_model(tmp_path / "mine")
    (folder / "world.yaml").write_text(junk)
    with pytest.raises(SpecError, match=r"world\.yaml"):
        open_world(f"transformers:{folder}", WorldOptions(load_spec("web")))
