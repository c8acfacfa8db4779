"""Commands as a real bash with the GNU tools prints them; the expected texts were taken from one."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import agentworld_gym.domains.terminal.engine as terminal
from agentworld_gym.domains.terminal.engine import TerminalMachine

FILES = {
    "/home/dev/notes.txt": "alpha\nbeta\ngamma delta\n",
    "/home/dev/other.txt": "alpha\nBETA\ngamma delta\nend\n",
    "/home/dev/data/a.csv": "name,age,city\nann,31,Rome\nbob,25,Oslo\n",
    "/home/dev/obj.json": '{"name": "box", "n": [1, 2]}\n',
}


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("grep -n a notes.txt", "1:alpha\n2:beta\n3:gamma delta"),
        ("sort -r notes.txt | head -n 1", "gamma delta"),
        ("cut -d, -f1,3 data/a.csv | tail -n +2", "ann,Rome\nbob,Oslo"),
        ("awk -F, 'NR>1 {s+=$2} END {print s}' data/a.csv", "56"),
        ("sed -n '2,3p' notes.txt", "beta\ngamma delta"),
        ("wc notes.txt other.txt", " 3  4 23 notes.txt\n 4  5 27 other.txt\n 7  9 50 total"),
        ("wc -l nofile", "wc: nofile: No such file or directory"),
        ("diff notes.txt other.txt", "2c2\n< beta\n---\n> BETA\n3a4\n> end"),
        ("diff -q notes.txt other.txt", "Files notes.txt and other.txt differ"),
        ("cp data x", "cp: -r not specified; omitting directory 'data'"),
        ("cp nofile x", "cp: cannot stat 'nofile': No such file or directory"),
        ("mv notes.txt nodir/x", "mv: cannot move 'notes.txt' to 'nodir/x': No such file or directory"),
        ("rm data", "rm: cannot remove 'data': Is a directory"),
        ("rm -v notes.txt", "removed 'notes.txt'"),
        ("mkdir a/b", "mkdir: cannot create directory 'a/b': No such file or directory"),
        ("chmod u+x,go= notes.txt; stat -c '%a %A' notes.txt", "700 -rwx------"),
        ("ls -z", "ls: invalid option -- 'z'\nTry 'ls --help' for more information."),
        ("head nofile", "head: cannot open 'nofile' for reading: No such file or directory"),
        ("tar czf a.tgz data; rm -r data; tar xzf a.tgz; tar tzf a.tgz", "data/\ndata/a.csv"),
        (
            "tar xf nofile.tar",
            "tar: nofile.tar: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now",
        ),
        ("gzip notes.txt; zcat notes.txt.gz | head -1; ls *.gz", "alpha\nnotes.txt.gz"),
        ("date -d '2024-02-28 + 2 days' +%F", "2024-03-01"),
        ("date -d 'next friday' +%a", "Fri"),
        ("echo 'scale=3; 1/8; 2^70' | bc", ".125\n1180591620717411303424"),
        ("echo 'for (i=1; i<=3; i++) { x += i }; x' | bc", "6"),
        ("echo '1/0' | bc", "Runtime error (func=(main), adr=3): Divide by zero"),
        ("jq -r '.n | add' obj.json", "3"),
        ("du -sh data", "8.0K\tdata"),
        ("file obj.json notes.txt", "obj.json:  JSON text data\nnotes.txt: ASCII text"),
        ("ln -s notes.txt l; readlink l; ln -s x l", "notes.txt\nln: failed to create symbolic link 'l': File exists"),
        ("echo x | tee nodir/f", "tee: nodir/f: No such file or directory\nx"),
        ("id; whoami; hostname", "uid=1000(dev) gid=1000(dev) groups=1000(dev)\ndev\nbox"),
        ("sleep 1 &", "[1] 1002"),
    ],
)
def test_prints_what_a_real_one_prints(line: str, output: str) -> None:
    machine = TerminalMachine.start({"files": FILES}, 0)
    screen = machine.act([{"keystrokes": f"{line}\n"}])
    assert "\n".join(screen.split("\n")[1:-1]) == output


@pytest.mark.parametrize("module", [m.name for m in pkgutil.walk_packages(terminal.__path__, f"{terminal.__name__}.")])
def test_the_examples_in_docstrings_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
