"""Templates that nobody vouches for: what they may see, and how much they may do."""

from __future__ import annotations

import resource
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import StrictUndefined, TemplateError
from worlds import language_world, predicted

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.template_budget import TooMuch
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions

TASK = Task(
    id="t",
    domain="terminal",
    instruction="Look.",
    state={"cwd": "/", "files": {"a": "b"}},
    success=[{"probe": "pwd", "expect": {"equals": "/"}}],
)

WRITES = (
    "{{ spec.path.joinpath('FILE').write_text('x') }}",
    "{{ spec['path'].joinpath('FILE').write_text('x') }}",
    "{{ (spec | attr('path')).joinpath('FILE').write_text('x') }}",
    "{% for p in [spec] | map(attribute='path') %}{{ p.joinpath('FILE').write_text('x') }}{% endfor %}",
    "{{ spec.action.errors.__class__ }}",
    "{{ spec.model_dump }}",
    "{{ spec.parse_file('/etc/hostname') }}",
    "{{ task.update({'instruction': 'x'}) }}",
    "{{ task.state.clear() }}",
    "{{ controls.append('x') }}",
    "{{ '{0.__class__}'.format(spec) }}",
    "{{ ''.format_map }}",
    "{{ lipsum(5) }}",
    "{{ lipsum.__globals__ }}",
    "{{ self.__init__ }}",
    "{{ cycler.__init__.__globals__.os }}",
)

ENDLESS = (
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}",
    "{% for a in range(99999) %}{% for b in range(99999) if b < 0 %}{% endfor %}{% endfor %}",
    "{% for a in [[1], [1]] recursive %}{{ loop([[1]] * 9) if loop.depth < 99 }}{% endfor %}",
    "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(99) }}",
    "{{ range(99999) | map('string') | join('x' * 99999) }}",
    "{{ range(99999) | map('string') | join('x' * 99999, attribute='real') }}",
    "{{ ('x' * 99999).join(range(99999) | map('string')) }}",
    "{% set x = 'x' * 999999 %}{{ range(9999) | map(attribute='q', default=x) | join }}",
    "{% set x = [0] * 99999 %}{{ range(9999) | map(attribute='q', default=x) | sum(start=[]) }}",
    "{{ 'x' * 10 ** 10 }}",
    "{{ [0] * 10 ** 10 }}",
    "{{ 10 ** (10 ** 10) }}",
    "{% set ns = namespace(x=2) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = '%s%s' % (ns.x, ns.x) %}{% endfor %}",
    "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x | replace('a', 'aa') %}{% endfor %}",
    "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x.replace('a', 'aa') %}{% endfor %}",
    "{% set ns = namespace(x=['a']) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x=1) %}{% for i in range(99) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x=1) %}{% for i in range(99) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}"
    "{% set ns.x = [{}, {}] | map(attribute='q', default=ns.x) | list %}{% endfor %}{{ ns.x }}",
    "{% set a = namespace() %}{% set b = namespace() %}{% set a.x = [b, b] %}{{ a }}",
    "{% set x = ('a' * 99999).split('a') %}{% for i in range(99999) %}{% if x == x[:] %}{% endif %}{% endfor %}",
    "{% set x = 'a' * 999999 %}{% for i in range(99999) %}{{ x | length }}{% endfor %}",
    "{% set x = 'a' * 999999 %}{% for i in range(99999) %}{% if 'b' in x %}{% endif %}{% endfor %}",
    "{% set x = 'a' * 999999 %}{% for i in range(99999) %}{{ x }}{% endfor %}",
    "{% set x = 'a' * 999999 %}{% macro m() %}{% for i in range(99999) %}{{ x }}{% endfor %}{% endmacro %}{{ m() }}",
    "{% for i in range(99999) %}" + "x" * 9999 + "{% endfor %}",
    "{{ 'x' | center(10 ** 10) }}",
    "{{ 'x'.ljust(10 ** 10) }}",
    "{{ 'x'.zfill(10 ** 10) }}",
    "{{ '\t'.expandtabs(10 ** 10) }}",
    "{{ '\n\n\n' | indent(10 ** 10) }}",
    "{{ ('\n' * 99999) | indent('x' * 99999) }}",
    "{{ '%9999999999d' % 1 }}",
    "{{ '%*d' % (9999999999, 1) }}",
    "{{ '%(a)9999999999d' | format(a=1) }}",
    "{{ '{:>9999999999}'.format(1) }}",
    "{{ [1] | batch(10 ** 10, 'x') | list }}",
    "{{ [1] | slice(10 ** 10, 'x') | list }}",
    "{{ 1.5 | round(10 ** 10, 'floor') }}",
    "{{ 'x' | wordwrap(1, wrapstring='y' * 99999) }}",
    "{{ range(99999) | select('in', range(99999) | list) | list }}",
    "{{ [range(99999) | list] * 99999 | tojson }}",
    "{% include 'self.j2' %}",
    "{% for i in range(99999) %}{% include 'empty.j2' %}{% endfor %}",
)

DEEP = (
    "{{ " + "(" * 9999 + "1" + ")" * 9999 + " }}",
    "{{ " + "[" * 9999 + "]" * 9999 + " }}",
    "{{ " + "not " * 9999 + "1 }}",
    "{{ 1" + "+1" * 9999 + " }}",
    "{% for a in [1] %}" * 99 + "{% endfor %}" * 99,
    "{% if 1 %}" * 999 + "{% endif %}" * 999,
)


def prompts(folder: Path, source: str) -> Prompts:
    """The prompts of the terminal, whose system prompt is this template."""
    shutil.copytree(Path(load_spec("terminal").path).parent.parent / "prompts" / "terminal", folder / "terminal")
    (folder / "terminal" / "system.j2").write_text(source)
    (folder / "self.j2").write_text("{% include 'self.j2' %}")
    (folder / "empty.j2").write_text("")
    return Prompts(load_spec("terminal"), PromptOptions(folder=folder))


@pytest.mark.parametrize("source", WRITES)
def test_a_prompt_folder_reaches_nothing_of_the_host_and_changes_no_data(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "written"
    with pytest.raises(SpecError, match=r"rendering|system\.j2"):
        prompts(tmp_path / "prompts", source.replace("FILE", str(target))).system(TASK, {"slow-service": 0.5})
    assert not target.exists()
    assert TASK.state == {"cwd": "/", "files": {"a": "b"}}


@pytest.mark.parametrize("source", [*ENDLESS, *DEEP], ids=lambda source: source[:60])
def test_a_prompt_folder_does_a_bounded_amount_of_work(source, tmp_path):
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SpecError):
        prompts(tmp_path, source).system(TASK)
    assert time.process_time() - begun < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20, "kilobytes"


@pytest.mark.parametrize("key", ["observation.first", "action.errors"])
def test_the_templates_of_a_spec_are_bounded_as_well(key, tmp_path):
    part, name = key.split(".")
    text = Path(load_spec("terminal").path).read_text()
    path = tmp_path / "terminal.yaml"
    data = yaml.safe_load(text)
    data["tasks"] = {}
    data[part][name] = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    path.write_text(yaml.safe_dump(data))
    spec = load_spec(str(path))
    if part == "action":
        assert ActionParser(spec).parse("\ud800").error == "the action is not valid Unicode: it holds a lone surrogate"
    else:
        with pytest.raises(SpecError):
            Prompts(spec).first_observation(TASK)


def test_what_a_template_needs_is_there():
    environment = BoundedEnvironment(undefined=StrictUndefined)
    data: dict[str, Any] = {"task": {"state": {"b": 2, "a": [1, "x"]}, "items": 3}, "spec": load_spec("terminal")}
    cases = {
        "{% for k, v in task.state.items() | sort %}{{ k }}={{ v }},{% endfor %}": "a=[1, 'x'],b=2,",
        "{% for c in 'ab' %}{{ loop.index }}/{{ loop.length }}{{ '' if loop.last else ' ' }}{% endfor %}": "1/2 2/2",
        "{% for n in [[1, [2]], [3]] recursive %}{{ n if n is number else loop(n) }}{% endfor %}": "123",
        "{% set ns = namespace(n=0) %}{% for i in range(9) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}": "36",
        "{% macro m(x, y=2) %}<{{ x ~ y }}>{{ caller() }}{% endmacro %}{% call m(1) %}in{% endcall %}": "<12>in",
        "{{ '%05.2f %s' % (2.5, 'a') }} {{ '%3d' | format(7) }}": "02.50 a   7",
        "{{ 'a,b'.split(',') | join('-') | upper }} {{ [3, 1] | sort | first }} {{ 'x' * 3 }}": "A-B 1 xxx",
        "{{ spec.id }} {{ spec.limits.max_steps > 1 }} {{ 'a' in task.state }} {{ task.state == task.state }}": (
            "terminal True True True"
        ),
        "{{ range(5) | select('odd') | map('string') | join }} {{ [1, 2][-1:] }} {{ 2 ** 9 }}": "13 [2] 512",
    }
    for source, expected in cases.items():
        assert environment.from_string(source).render(data) == expected


def test_a_long_text_and_a_large_state_are_shown():
    environment = BoundedEnvironment()
    state = {f"file{number}": "x" * 100 for number in range(5000)}
    rows = "{% for name, text in state.items() %}{% if text %}{{ name | upper }}: {{ text }}\n{% endif %}{% endfor %}"
    shown = environment.from_string(rows + "{{ long }}").render(state=state, long="y" * 5_000_000)
    assert len(shown) > 5_500_000


def test_every_rendering_has_a_budget_of_its_own():
    environment = BoundedEnvironment()
    template = environment.from_string("{% for i in range(n) %}{{ i }}{% endfor %}")
    for _ in range(3):
        assert len(template.render(n=90_000)) > 90_000
        with pytest.raises(TemplateError):
            environment.from_string(ENDLESS[0]).render()


def test_a_world_with_a_harmful_prompt_folder_is_refused_by_name(tmp_path):
    folder = tmp_path / "prompts"
    prompts(folder, WRITES[0].replace("FILE", str(tmp_path / "written")))
    with pytest.raises(SpecError, match=r"system\.j2"):
        language_world(lambda request: predicted("calm"), prompts=str(folder)).begin([TASK], [1])
    assert not (tmp_path / "written").exists()


BLOCK = "{% if true %}\n{{ '<' }}\n{% endif %}"


@pytest.mark.parametrize(
    ("settings", "shown"),
    [({}, "\n<\n"), ({"trim_blocks": True}, "<\n"), ({"autoescape": True}, "\n&lt;\n"), ({}, "\n<\n")],
)
def test_a_source_is_compiled_for_the_settings_of_its_environment(settings: dict[str, Any], shown: str) -> None:
    assert BoundedEnvironment(**settings).from_string(BLOCK).render() == shown


def test_a_source_is_compiled_for_the_filters_of_its_environment() -> None:
    source = "{{ 'a' | shout }}"
    for shout, shown in ((str.upper, "A"), (str.title, "A"), (lambda text: f"{text}!", "a!")):
        loud = BoundedEnvironment()
        loud.add_filters({"shout": shout})
        assert loud.from_string(source).render() == shown
    with pytest.raises(TemplateError, match="shout"):
        BoundedEnvironment().from_string(source)


def test_a_template_that_was_compiled_before_has_a_budget_of_its_own() -> None:
    source = "{% for n in range(9_000) %}{{ text }}{% endfor %}"
    assert BoundedEnvironment().from_string(source).render(text="") == ""
    with pytest.raises(TooMuch):
        BoundedEnvironment().from_string(source).render(text="x" * 10_000)
    assert BoundedEnvironment().from_string(source).render(text="") == ""
