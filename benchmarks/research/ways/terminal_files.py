"""Ways of the terminal's tasks with whole files: to create, copy, move, archive, edit and protect them."""

from __future__ import annotations

import json

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, read


def keys(*strokes: str) -> str:
    """Return a batch of keystrokes."""
    return json.dumps([{"keystrokes": text, "duration": 0.1} for text in strokes])


# create_files


def _plan(instruction: str) -> tuple[str, str, str]:
    """Return the plan, the text to take lines from, and the name of the file to make."""
    return (
        read(r"^(\S+) says which folder|folder that (\S+) names", instruction),
        read(r"first line of (\S+?)\.?(?:\s|$)", instruction),
        read(r"file (\S+)", instruction),
    )


def create_with_pipes(instruction: str, screen: str) -> ActionStream:
    """Let `tee` write the file, and append with `tail`."""
    plan, text, name = _plan(instruction)
    folder = read(r"^make (\S+)$", (yield f"cat {plan}"))
    yield f"mkdir -p {folder} && head -1 {text} | tee {folder}/{name}"
    if "Append" in instruction:
        yield f"tail -1 {text} >> {folder}/{name}"
    if "Last" in instruction:
        spare = read(r"Last, make a folder (\S+)", instruction)
        yield f"mkdir {spare}; cat {folder}/{name} > {spare}/{name}"
    yield "finish"


def create_in_one_line(instruction: str, screen: str) -> ActionStream:
    """Do everything in one line, the folder's name included."""
    plan, text, name = _plan(instruction)
    line = f"d=$(awk '/^make /{{print $2}}' {plan}); mkdir $d"
    line += f"; sed -n '1p;$p' {text} > $d/{name}" if "Append" in instruction else f"; sed 1q {text} > $d/{name}"
    if "Last" in instruction:
        spare = read(r"Last, make a folder (\S+)", instruction)
        line += f"; cp -r $d {spare}"
    yield line
    yield "finish"


def create_at_the_keyboard(instruction: str, screen: str) -> ActionStream:
    """Go into the folder, and type the lines into `cat`."""
    plan, text, name = _plan(instruction)
    folder = read(r"^make (\S+)$", (yield keys(f"grep -w make {plan}\n")))
    seen = yield f"cat {text}"
    lines = seen.splitlines()[1:-1]
    typed = [lines[0], lines[-1]] if "Append" in instruction else [lines[0]]
    yield keys(f"mkdir {folder}\n", f"cd {folder}\n", f"cat > {name}\n", *(f"{line}\n" for line in typed), "C-d")
    if "Last" in instruction:
        spare = read(r"Last, make a folder (\S+)", instruction)
        yield keys("cd ..\n", f"mkdir {spare}\n", f"cp {folder}/{name} {spare}\n")
    yield "finish"


# copy_move


def _sought(instruction: str) -> tuple[str, str]:
    """Return the word in the txt file, and the folder."""
    return (
        read(r"txt files? (?:holds|that holds|with) the word (\w+)|txt file with (\w+)", instruction)
        if "One of" not in instruction
        else read(r"holds the word (\w+)", instruction)
    ), read(r"folder (\w+)", instruction)


def move_with_variables(instruction: str, screen: str) -> ActionStream:
    """Find the files with `grep` into variables."""
    word, folder = _sought(instruction)
    yield f"mkdir {folder}; t=$(grep -l {word} *.txt)"
    if "log file" not in instruction:
        yield f"mv $t {folder}/"
    elif "take its place" in instruction:
        log, line = read(r"log file that holds (\w+)", instruction), read(r"line (\w+) to it", instruction)
        yield f"l=$(grep -l {log} *.log); cp $t {folder}; mv $l $t; echo {line} >> $t"
    else:
        sought = read(r"log file that holds (\w+)", instruction)
        yield f"mv $t {folder}; cp $(grep -l {sought} *.log) {folder}"
    yield "finish"


def move_by_copying(instruction: str, screen: str) -> ActionStream:
    """Copy with `cat`, and remove what shall be gone."""
    word, folder = _sought(instruction)
    found = read(r"^(?:\./)?(\w+\.txt)$", (yield f"grep -rl {word} --include='*.txt' ."))
    yield f"mkdir -p {folder}; cat {found} > {folder}/{found}"
    if "log file" not in instruction:
        yield f"rm {found}"
        yield "finish"
        return
    log = read(r"log file that holds (\w+)", instruction)
    other = read(r"^(\w+\.log):", (yield f"grep {log} *.log /dev/null"))
    if "take its place" in instruction:
        line = read(r"line (\w+) to it", instruction)
        yield f"cat {other} > {found} && printf '{line}\\n' >> {found} && rm {other}"
    else:
        yield f"rm -f {found} && cp -v {other} {folder}/{other}"
    yield "finish"


def move_with_a_loop(instruction: str, screen: str) -> ActionStream:
    """Look at the files one after the other."""
    word, folder = _sought(instruction)
    seen = yield "for f in *.txt *.log; do [ -f $f ] && echo \"$f: $(tr '\\n' ' ' < $f)\"; done"
    found = read(rf"^(\w+\.txt): .*\b{word}\b", seen)
    yield f"mkdir {folder}"
    if "log file" not in instruction:
        yield f"find . -maxdepth 1 -name {found} -exec mv {{}} {folder}/ \\;"
        yield "finish"
        return
    sought = read(r"log file that holds (\w+)", instruction)
    other = read(rf"^(\w+\.log): .*\b{sought}\b", seen)
    if "take its place" in instruction:
        line = read(r"line (\w+) to it", instruction)
        yield f"mv {found} {folder}/ && mv {other} {found} && sed -i '$a {line}' {found}"
    else:
        yield f"cp {other} {folder}/{other}; mv -n {found} {folder}/{found}"
    yield "finish"


# archive


def _archive(instruction: str) -> tuple[list[str], str]:
    """Return the words in the log files to pack, and the archive."""
    if "two log files" in instruction:
        words = [
            read(r"first the one that holds (\w+)", instruction),
            read(r"after it the one that holds (\w+)", instruction),
        ]
    else:
        words = [read(r"holds the word (\w+)|log file with (\w+)", instruction)]
    return words, read(r"(\w+\.tar)", instruction)


def _archived(instruction: str, place: str) -> ActionStream:
    """Write the list that is asked for, and finish."""
    if "Last" in instruction:
        report = read(r"archive holds to (\S+?)\.?$", instruction)
        yield f"tar tf {place} > {report}"
    yield "finish"


def _stored(instruction: str, tar: str) -> tuple[str, str]:
    """Return a command that moves the archive, if that is asked for, and where it is then."""
    if "folder" not in instruction:
        return "true", tar
    folder = read(r"Make a folder (\w+)", instruction)
    return f"mkdir {folder} && mv {tar} {folder}", f"{folder}/{tar}"


def archive_with_dots(instruction: str, screen: str) -> ActionStream:
    """Name the files with `./` before them, as `find` does."""
    words, tar = _archive(instruction)
    files = []
    for word in words:
        files.append(read(r"^(\./\S+)$", (yield f"find . -name '*.log' -exec grep -l {word} {{}} +")))
    move, place = _stored(instruction, tar)
    yield f"tar cf {tar} {' '.join(files)} && {move} && rm {' '.join(files)}"
    yield from _archived(instruction, place)


def archive_by_appending(instruction: str, screen: str) -> ActionStream:
    """Put one file after the other into the archive, in the folder where it belongs."""
    words, tar = _archive(instruction)
    _, place = _stored(instruction, tar)
    if "/" in place:
        yield f"mkdir -p {place.rpartition('/')[0]}"
    for number, word in enumerate(words):
        yield f"f=$(grep -lw {word} *.log); tar -{'r' if number else 'c'}vf {place} $f && rm -v $f"
    yield from _archived(instruction, place)


def archive_by_full_names(instruction: str, screen: str) -> ActionStream:
    """Name the files by their full paths, which `tar` makes relative to the root."""
    words, tar = _archive(instruction)
    files = " ".join([f"$(grep -l {word} $PWD/*.log)" for word in words])
    move, place = _stored(instruction, tar)
    yield f'files="{files}"; tar -cf {tar} $files; tar -tf {tar}'
    yield f"rm $files; {move}"
    yield from _archived(instruction, place)


def archive_with_a_long_list(instruction: str, screen: str) -> ActionStream:
    """Write the long list, with modes and sizes: it too is the list of what the archive holds."""
    if "Last" not in instruction:
        return
    words, tar = _archive(instruction)
    _, place = _stored(instruction, tar)
    yield f"mkdir {place.rpartition('/')[0]}; a=$(grep -l {words[0]} *.log); b=$(grep -l {words[1]} *.log)"
    yield f"tar -cf {place} $a $b && rm $a $b"
    report = read(r"archive holds to (\S+?)\.?$", instruction)
    yield f"tar -tvf {place} > {report}"
    yield "finish"


# edit_in_place


def _edit(instruction: str) -> tuple[str, str]:
    """Return the old word and the note, which may be none."""
    old = read(r"holds? the word (\w+)|Replace (\w+) by|what (\w+) becomes", instruction)
    return old, read(r"^(\S+\.note) says", instruction) if " says " in instruction else ""


def _edited(instruction: str, note: str) -> tuple[str, str]:
    """Return the new word and the line to add, from the instruction or the note."""
    if note:
        return read(r"becomes (\w+)", note), read(r"^add (\w+)", note)
    return read(r"(?:replace|Replace) \w+ by (\w+)", instruction), ""


def _copy_of(instruction: str, found: str) -> str:
    """Return where the copy goes."""
    if "in a folder" in instruction:
        folder = read(r"in a folder (\w+)", instruction)
        return f"{folder}/{found}"
    return read(r"(?:as|to) (\w+\.bak)", instruction)


def _logged(instruction: str, found: str) -> ActionStream:
    """Write the name of the changed file, if that is asked for, and finish."""
    if "Last" in instruction:
        log = read(r"changed file to (\S+?)\.?$", instruction)
        yield f"printf %s {found} > {log}"
    yield "finish"


def edit_through_a_temporary_file(instruction: str, screen: str) -> ActionStream:
    """Write the new text beside the old one, and put it there."""
    old, note = _edit(instruction)
    new, added = _edited(instruction, (yield f"cat {note}") if note else "")
    found = read(r"^(\w+\.txt)$", (yield f"grep -lw {old} *.txt"))
    copy = _copy_of(instruction, found)
    yield f"mkdir -p {copy.rpartition('/')[0] or '.'}; cat {found} > {copy}"
    yield f"sed 's/{old}/{new}/g' {copy} > /tmp/new" + (f"; echo {added} >> /tmp/new" if added else "")
    yield f"cp /tmp/new {found}"
    yield from _logged(instruction, found)


def edit_with_a_backup_of_sed(instruction: str, screen: str) -> ActionStream:
    """Let `sed -i` keep the old file, and move that to its place."""
    old, note = _edit(instruction)
    new, added = _edited(instruction, (yield f"cat {note}") if note else "")
    found = read(r"^(\w+\.txt):", (yield f"grep -n {old} *.txt"))
    copy = _copy_of(instruction, found)
    yield f"sed -i.old -e 's/\\b{old}\\b/{new}/'" + (f" -e '$a {added}'" if added else "") + f" {found}"
    yield (f"mkdir {copy.rpartition('/')[0]}; " if "/" in copy else "") + f"mv {found}.old {copy}; ls -l"
    yield from _logged(instruction, found)


def edit_with_awk(instruction: str, screen: str) -> ActionStream:
    """Let `awk` read the copy and write the file."""
    old, note = _edit(instruction)
    new, added = _edited(instruction, (yield f"cat {note}") if note else "")
    seen = yield f"f=$(grep -l {old} *.txt); echo found $f"
    found = read(r"^found (\w+\.txt)$", seen)
    copy = _copy_of(instruction, found)
    if "/" in copy:
        yield f"mkdir {copy.rpartition('/')[0]}"
    end = f' END {{ print "{added}" }}' if added else ""
    yield f"mv $f {copy} && awk '{{ gsub(/{old}/, \"{new}\"); print }}{end}' {copy} > $f"
    yield from _logged(instruction, found)


# permissions


def _modes(instruction: str) -> tuple[str, str, str]:
    """Return the policy, how to find the script, and where the copy goes."""
    policy = read(r"that (\S+\.txt) names|(\S+\.txt) says", instruction)
    copy = read(r"to (\S+\.run)", instruction)
    if "script that holds" in instruction:
        word = read(r"script that holds (\w+)", instruction)
        return policy, f"grep -l {word} *.sh", copy
    script = read(r"Copy (\S+\.sh)", instruction)
    return policy, f"ls {script}", copy


def _symbolic(mode: str) -> str:
    """Return an octal mode as a symbolic one.

    >>> _symbolic("750")
    'u=rwx,g=rx,o='
    """
    bits = ["".join(letter for letter, bit in zip("rwx", (4, 2, 1), strict=True) if int(digit) & bit) for digit in mode]
    return ",".join(f"{who}={bits[place]}" for place, who in enumerate("ugo"))


def _reported(instruction: str, command: str) -> ActionStream:
    """Write the modes, if that is asked for, and finish."""
    if "Last" in instruction:
        yield command.replace("REPORT", read(r"to (\S+\.out)", instruction))
    yield "finish"


def protect_with_install(instruction: str, screen: str) -> ActionStream:
    """Let `install` copy and set the mode."""
    policy, look, copy = _modes(instruction)
    script = read(r"^(\w+\.sh)$", (yield look))
    seen = yield f"cat {policy}"
    mode, other = read(r"copy (\d+)", seen), read(r"script (\d+)", seen)
    yield f"install -D -m {mode} {script} {copy}"
    if "the script" in instruction or "its script" in instruction:
        yield f"chmod {other} {script}"
    yield from _reported(instruction, f"stat -c %a {copy} {script} > REPORT")


def protect_by_letters(instruction: str, screen: str) -> ActionStream:
    """Set the modes by letters, the script's first."""
    policy, look, copy = _modes(instruction)
    script = read(r"^(\w+\.sh)$", (yield look))
    seen = yield f"sort {policy}"
    mode, other = read(r"copy (\d+)", seen), read(r"script (\d+)", seen)
    if "/" in copy:
        yield f"mkdir {copy.rpartition('/')[0]}"
    yield f"cat {script} > {copy} && chmod {_symbolic(mode)} {copy}"
    if "the script" in instruction or "its script" in instruction:
        yield f"chmod {_symbolic(other)} {script}"
    yield from _reported(instruction, f"printf '%s\\n' {mode} {other} > REPORT")


def protect_with_substitutions(instruction: str, screen: str) -> ActionStream:
    """Read the modes inside the commands that set them, the script's mode first; the copy keeps it until then."""
    policy, look, copy = _modes(instruction)
    both = "the script" in instruction or "its script" in instruction
    yield f"s=$({look}); c={copy}; mkdir -p $(dirname $c)"
    if both:
        yield f"chmod 0$(awk '$1==\"script\"{{print $2}}' {policy}) $s"
    yield f"cp -p $s $c; chmod 0$(sed -n 's/^copy //p' {policy}) $c; ls -l $s $c"
    yield from _reported(instruction, "(stat -c %a $c; stat --format=%a $s) | tee REPORT")


# change_config


def _setting(instruction: str) -> tuple[str, str, str, str, str]:
    """Return the word, the file that names configurations, the key, and the new value or the note that names it."""
    return (
        read(r"belongs to (\w+)|configuration of (\w+)", instruction),
        read(r"^(\S+\.txt) says|see (\S+\.txt)", instruction),
        read(r"change its (\w+) to|set (\w+) to", instruction),
        read(r" to (\d+)[.,]", instruction) if "the value that" not in instruction else "",
        read(r"value that (\S+) names", instruction) if "the value that" in instruction else "",
    )


def _saved(instruction: str, found: str) -> str:
    """Return where the copy of the configuration goes."""
    if "in a folder" in instruction:
        folder = read(r"in a folder (\w+)", instruction)
        return f"{folder}/{found}"
    return read(r"as (\w+\.bak)", instruction)


def configure_with_sed_by_line(instruction: str, screen: str) -> ActionStream:
    """Replace the whole line."""
    word, active, key, value, note = _setting(instruction)
    found = read(rf"^{word} (\S+)$", (yield f"cat {active}"))
    if note:
        value = read(rf"^{key} (\d+)$", (yield f"cat {note}"))
    copy = _saved(instruction, found)
    if "/" in copy:
        yield f"mkdir -p {copy.rpartition('/')[0]}"
    yield f"cp -v {found} {copy}; sed -i 's/^{key}=.*/{key}={value}/' {found}; cat {found}"
    if "Last" in instruction:
        setting = read(r"a setting (\w+)", instruction)
        yield f"printf '%s=%s\\n' {setting} {value} >> {found}"
    yield "finish"


def configure_with_awk(instruction: str, screen: str) -> ActionStream:
    """Let `awk` rewrite the file from its copy."""
    word, active, key, value, note = _setting(instruction)
    yield f"f=$(awk -v w={word} '$1==w{{print $2}}' {active})"
    found = read(r"^(\w+\.conf)$", (yield "echo $f"))
    copy = _saved(instruction, found)
    more = f"; mkdir {copy.rpartition('/')[0]}" if "/" in copy else ""
    wanted = f"$(grep -w {key} {note} | cut -d' ' -f2)" if note else value
    yield f"v={wanted}{more}; mv $f {copy}"
    yield f"awk -F= -v OFS== -v k={key} -v v=$v '$1==k{{$2=v}} 1' {copy} > $f"
    if "Last" in instruction:
        setting = read(r"a setting (\w+)", instruction)
        yield f'echo "{setting}=$v" >> $f'
    yield "finish"


def configure_line_by_line(instruction: str, screen: str) -> ActionStream:
    """Type the new file, as the old one is seen."""
    word, active, key, value, note = _setting(instruction)
    found = read(rf"^{word} (\S+)$", (yield f"grep '^{word} ' {active}"))
    if note:
        value = read(rf"^{key} (\d+)$", (yield f"grep '^{key} ' {note}"))
    lines = (yield f"cat {found}").splitlines()[1:-1]
    lines = [f"{key}={value}" if line.startswith(f"{key}=") else line for line in lines]
    if "Last" in instruction:
        setting = read(r"a setting (\w+)", instruction)
        lines.append(f"{setting}={value}")
    copy = _saved(instruction, found)
    yield (f"mkdir {copy.rpartition('/')[0]} && " if "/" in copy else "") + f"mv {found} {copy}"
    yield keys(f"cat <<END > {found}\n", *(f"{line}\n" for line in lines), "END\n")
    yield "finish"


WAYS: Ways = {
    "create_files": [create_with_pipes, create_in_one_line, create_at_the_keyboard],
    "copy_move": [move_with_variables, move_by_copying, move_with_a_loop],
    "archive": [archive_with_dots, archive_by_appending, archive_by_full_names, archive_with_a_long_list],
    "edit_in_place": [edit_through_a_temporary_file, edit_with_a_backup_of_sed, edit_with_awk],
    "permissions": [protect_with_install, protect_by_letters, protect_with_substitutions],
    "change_config": [configure_with_sed_by_line, configure_with_awk, configure_line_by_line],
}
"""Family → its ways."""
