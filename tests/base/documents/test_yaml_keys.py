"""Keys that are set in a YAML file of a user's."""

from __future__ import annotations

import pytest
import yaml

from agentworld_gym.base.documents.yaml_keys import with_keys

NEW = {"masks": ["b"], "deterministic": True}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "masks: [a]\n",
        "masks: [\n  'a'\n]\n",
        "masks:\n- a\n\n# what follows\n",
        "masks:\n    - a   # one\n    - |\n        b\n\n        c\n",
        "deterministic : true\n",
        '"masks": ["a"]\n',
        "? masks\n: [a]\n",
        "masks:\n  - {x: 1,\n  y: 2}\n",
        "masks: >-\n  one\n  two\n",
        "masks: null\n",
        "masks:\n",
    ],
)
def test_a_key_is_set_whatever_its_old_value_looks_like_and_all_else_stays(text: str) -> None:
    before = "# mine\ncommand: [a,\n  b]  # a command\n"
    for whole in (f"{before}{text}env: {{}}\n", f"---\n{before}{text}", f"{before}{text}...\n"):
        written = with_keys(whole, NEW)
        assert written is not None and before in written
        assert yaml.safe_load(written) == {**yaml.safe_load(whole), **NEW}
        assert with_keys(written, NEW) == written


@pytest.mark.parametrize("text", ["{command: [a], masks: [a]}", "- a", "command: &a [x]\nmasks: &b [y]\nread: *b\n"])
def test_what_cannot_be_written_to_is_left_alone(text: str) -> None:
    assert with_keys(text, NEW) is None
