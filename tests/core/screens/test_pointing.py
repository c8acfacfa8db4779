"""Which lines of a screen an action points at."""

from __future__ import annotations

from typing import Any

import pytest

from agentworld_gym.core.screens.pointing import pointed_lines

PAGE = """### Page
- Page URL: http://shop.example/
### Snapshot
```yaml
- generic [active] [ref=e1]:
  - link "Cart (2)" [ref=e2] [cursor=pointer]:
    - /url: /cart
  - textbox "Name \\"x\\"" [ref=e5]: Ada
  - 'link "a: b" [ref=e6]'
  - text: Total
  - img
```"""
DESKTOP = """tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)
frame\tEditor\t""\t\t\t(0, 0)\t(400, 300)
push-button\tSave\t""\t\t\t(10, 10)\t(40, 20)
push-button\tOpen\t""\t\t\t(60, 10)\t(40, 20)"""
PHONE = """[ 0] | android.widget.Button | text="A" | bounds=[0,0][100,50] | clickable
[ 1] | android.widget.Button | text="B" | bounds=[0,50][100,90] | clickable"""


@pytest.mark.parametrize(
    ("domain", "action", "screen", "expected"),
    [
        ("desktop", "pyautogui.click(20, 20)", DESKTOP, [2]),
        ("desktop", "pyautogui.click(x=300, y=200)", DESKTOP, [1]),
        ("desktop", "pyautogui.click(20, 20); pyautogui.click(70, 20)", DESKTOP, [2, 3]),
        ("desktop", "pyautogui.press('enter')", DESKTOP, []),
        ("desktop", "pyautogui.click(9999, 9)", DESKTOP, []),
        ("android", {"action_type": "click", "index": 1}, PHONE, [1]),
        ("android", {"action_type": "click", "x": 50, "y": 60}, PHONE, [1]),
        ("android", {"action_type": "wait"}, PHONE, []),
        ("web", {"name": "browser_type", "arguments": {"ref": "e5", "text": "e2 and more"}}, PAGE, [7]),
        ("web", {"name": "browser_drag", "arguments": {"startRef": "e2", "endRef": "e5"}}, PAGE, [5, 7]),
        ("web", {"name": "browser_click", "arguments": {"ref": "e99"}}, PAGE, []),
        ("terminal", "ls", "a.txt", []),
        ("android", None, PHONE, []),
    ],
)
def test_an_action_points_at_lines(domain: str, action: Any, screen: str, expected: list[int]) -> None:
    assert pointed_lines(domain, action, screen) == expected
