"""Ways of the terminal's tasks with text: to find files, and to count, filter, sort and sum lines."""

from __future__ import annotations

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, read

# find_file


def _wanted(instruction: str) -> tuple[str, str, str, str]:
    """Return the file to look for, the file that names it or nothing, the name of the copy, and the new line."""
    named = "the file that" in instruction
    copy = read(r"as (\w+\.bak)", instruction)
    mark = read(r"single line (\w+)|only the line (\w+)", instruction)
    first = read(r"^(?:Find|Save) (?:the file that )?(\S+\.txt)", instruction)
    return ("", first, copy, mark) if named else (first, "", copy, mark)


def _target(other: str) -> str:
    """Return the command that prints the name of the file that another file names."""
    return f"grep -rhoE '\\w+\\.txt' $(find . -type f -name {other})"


def find_with_globs(instruction: str, screen: str) -> ActionStream:
    """List everything, and read the path off the list."""
    target, other, copy, mark = _wanted(instruction)
    seen = yield "ls -R ."
    folders: dict[str, str] = {}
    place = "."
    for line in seen.splitlines()[1:-1]:
        if line.endswith(":"):
            place = line.removesuffix(":")
        else:
            folders.setdefault(line, place)
    if other:
        target = read(r"see (\S+)", (yield f"cat {folders[other]}/{other}"))
    path = f"{folders[target]}/{target}"
    if "Make a folder" in instruction:
        folder = read(r"Make a folder (\w+)", instruction)
        note = read(r"prints it, to (\S+?)\.\s", instruction)
        yield f"mkdir {folder}; cp {path} {folder}/{copy}; printf '%s\\n' {path} > {note}"
    else:
        yield f"cp {path} ./{copy}"
    yield f"printf '%s\\n' {mark} > {path}"
    yield "finish"


def find_and_move(instruction: str, screen: str) -> ActionStream:
    """Move the file to where the copy belongs, and write a new one in its place."""
    target, other, copy, mark = _wanted(instruction)
    yield f"t={target}" if target else f"t=$({_target(other)})"
    yield 'p=$(find . -type f -name "$t" -print -quit)'
    if "Make a folder" in instruction:
        folder = read(r"Make a folder (\w+)", instruction)
        note = read(r"prints it, to (\S+?)\.\s", instruction)
        yield f'mkdir {folder} && find . -name "$t" > {note} && mv "$p" {folder}/{copy}'
    else:
        yield f'mv "$p" {copy}'
    yield f'echo {mark} | tee "$p"'
    yield "finish"


def find_from_the_full_path(instruction: str, screen: str) -> ActionStream:
    """Look below the full path of this folder, so that `find` prints full paths."""
    target, other, copy, mark = _wanted(instruction)
    yield f"t={target}" if target else f"t=$({_target(other)})"
    if "Make a folder" in instruction:
        folder = read(r"Make a folder (\w+)", instruction)
        note = read(r"prints it, to (\S+?)\.\s", instruction)
        start = "." if "find . prints" in instruction else '"$PWD"'
        yield f'mkdir -p {folder}; find {start} -type f -name "$t" | tee {note}; cat $(cat {note}) > {folder}/{copy}'
        yield f"echo {mark} > $(cat {note})"
    else:
        yield f'p=$(find "$PWD" -name "$t"); cat "$p" > {copy}; echo {mark} > "$p"'
    yield "finish"


# count_lines


def _counted(instruction: str) -> tuple[str, str, str]:
    """Return the command that names the log file, the word to count, and where the numbers go."""
    word = read(r"contain (\w+)", instruction)
    if "log file that holds" in instruction:
        mark = read(r"log file that holds (\w+)", instruction)
        look = f"grep -l {mark} *.log"
    else:
        source = read(r"lines of (\S+) and|lines are in (\S+),", instruction)
        look = f"ls {source}"
    result = read(r"(\w+\.txt)", instruction)
    if "new folder" in instruction:
        folder = read(r"new folder (\w+)", instruction)
        result = f"{folder}/{result}"
    return look, word, result


def _moved(instruction: str, source: str) -> ActionStream:
    """Move the log file, if that is asked for, and finish."""
    if "Last" in instruction:
        folder = read(r"move that log file to (\w+)", instruction)
        yield f"mv {source} {folder}/"
    yield "finish"


def count_with_grep(instruction: str, screen: str) -> ActionStream:
    """Let `grep -c` count all lines too."""
    look, word, result = _counted(instruction)
    yield f"s=$({look}); mkdir -p $(dirname {result})"
    yield f"grep -c '' $s > {result}; grep -c {word} $s >> {result}; cat {result}"
    yield from _moved(instruction, "$s")


def count_with_awk(instruction: str, screen: str) -> ActionStream:
    """Let one program count both."""
    look, word, result = _counted(instruction)
    source = read(r"^(\w+\.log)$", (yield look))
    if "/" in result:
        yield f"mkdir {result.partition('/')[0]}"
    yield f"awk '/{word}/ {{ n++ }} END {{ print NR; print n + 0 }}' {source} > {result}"
    yield from _moved(instruction, source)


def count_by_eye(instruction: str, screen: str) -> ActionStream:
    """Count what `cat -n` shows, and write both numbers at once."""
    look, word, result = _counted(instruction)
    source = read(r"^(\w+\.log)$", (yield look))
    lines = (yield f"cat {source}").splitlines()[1:-1]
    folder = f"mkdir -p {result.partition('/')[0]} && " if "/" in result else ""
    yield f"{folder}printf '{len(lines)}\\n{sum(word in line.split() for line in lines)}' > {result}"
    yield from _moved(instruction, source)


def count_with_wc(instruction: str, screen: str) -> ActionStream:
    """Count with `wc` behind a pipe, from the last number to the first."""
    look, word, result = _counted(instruction)
    yield f"s=$({look}); [ -d {result.rpartition('/')[0] or '.'} ] || mkdir {result.rpartition('/')[0] or '.'}"
    yield f"n=$(grep {word} $s | wc -l); {{ wc -l < $s; echo $n; }} > {result}"
    yield from _moved(instruction, "$s")


# filter_lines


def _filtered(instruction: str, note: str) -> tuple[str, str, str, str, str]:
    """Return the source, the part with the first word or nothing, the result, the count and the folder or nothing."""
    source = (
        read(r"^file (\S+)", note) if "log file it names" in instruction else read(r"lines of (\S+) with", instruction)
    )
    count = read(r"write to (\S+) how many", instruction)
    folder = read(r"Make a folder (\w+)", instruction) if "Make a folder" in instruction else ""
    if "to drop" in instruction:
        part = read(r"first word into (\S+),", instruction)
        return source, part, read(r"second word into (\S+?)\. ", instruction), count, folder
    return source, "", read(r"that word into (\S+?)\. ", instruction), count, folder


def _note(instruction: str) -> str:
    """Return the note."""
    return read(r"(\S+\.txt) says which word", instruction)


def filter_with_awk(instruction: str, screen: str) -> ActionStream:
    """Keep the lines with `awk`."""
    note = yield f"cat {_note(instruction)}"
    source, part, result, count, folder = _filtered(instruction, note)
    keep = read(r"^keep (\w+)", note)
    if folder:
        yield f"mkdir -p {folder}"
    if part:
        drop = read(r"^drop (\w+)", note)
        yield f"awk '/{keep}/' {source} > {part}; awk '!/{drop}/' {part} > {result}"
    else:
        yield f"awk '/{keep}/ {{ print }}' {source} > {result}"
    yield f"awk 'END {{ print NR }}' {result} > {count}"
    yield "finish"


def filter_in_one_line(instruction: str, screen: str) -> ActionStream:
    """Read the note inside the line that filters."""
    note = _note(instruction)
    seen = yield f"cat {note}"
    source, part, result, count, folder = _filtered(instruction, seen)
    make = f"mkdir {folder}; " if folder else ""
    keep = f"$(sed -n 's/^keep //p' {note})"
    if part:
        drop = f"$(sed -n 's/^drop //p' {note})"
        line = f'{make}grep -w "{keep}" {source} | tee {part} | grep -vw "{drop}" | tee {result} | wc -l > {count}'
    else:
        line = f'grep "{keep}" < {source} | tee {result} | grep -c . > {count}'
    yield line
    yield "finish"


def filter_with_sed(instruction: str, screen: str) -> ActionStream:
    """Delete from copies what does not belong there, and type the count."""
    note = yield f"sort {_note(instruction)}"
    source, part, result, count, folder = _filtered(instruction, note)
    keep = read(r"^keep (\w+)", note)
    if folder:
        yield f"mkdir {folder}"
    first = part or result
    yield f"cp {source} {first}; sed -i '/{keep}/!d' {first}"
    if part:
        drop = read(r"^drop (\w+)", note)
        yield f"sed '/{drop}/d' {part} > {result}"
    lines = (yield f"cat {result}").splitlines()[1:-1]
    yield f"printf {len(lines)} > {count}"
    yield "finish"


# sort_unique


def sort_with_uniq(instruction: str, screen: str) -> ActionStream:
    """Leave repetitions out with `uniq`, and take ends with `sed`."""
    if "by number" in instruction:
        naming, key, result, note, folder = _numbers(instruction)
        yield f"s=$(sed -n 's/^{key} //p' {naming}); mkdir {folder}"
        yield f"sort -n $s > {folder}/{result}; sed -n '1p;$p' {folder}/{result} > {note}"
    elif "Join" in instruction:
        first, second, joined, result, note = _joined(instruction)
        yield f"cat {second} {first} > {joined}; sort {joined} | uniq > {result}; rm {joined}"
        yield f"grep -c '' {result} > {note}"
    else:
        source, result, note = _once(instruction)
        yield f"sort {source} | uniq > {result} && sed -n '$p' {result} > {note} && rm {source}"
    yield "finish"


def sort_with_awk(instruction: str, screen: str) -> ActionStream:
    """Leave repetitions out before sorting."""
    if "by number" in instruction:
        naming, key, result, note, folder = _numbers(instruction)
        source = read(rf"^{key} (\S+)", (yield f"cat {naming}"))
        yield f"sort -g -o {result} {source}"
        yield f"awk 'NR == 1 {{ print }} {{ last = $0 }} END {{ print last }}' {result} > {note}"
        yield f"mkdir -p {folder} && cp {result} {folder}/ && rm {result}"
    elif "Join" in instruction:
        first, second, joined, result, note = _joined(instruction)
        yield f"cp {first} {joined}; cat {second} >> {joined}"
        yield f"awk '!seen[$0]++' {joined} | sort > {result}; wc -l < {result} | tee {note}; rm -f {joined}"
    else:
        source, result, note = _once(instruction)
        yield f"awk '!seen[$0]++' {source} | sort > {result}; tail -1 {result} > {note}; rm -v {source}"
    yield "finish"


def sort_by_eye(instruction: str, screen: str) -> ActionStream:
    """Read the lines, and write them sorted."""
    if "by number" in instruction:
        naming, key, result, note, folder = _numbers(instruction)
        source = read(rf"^{key} (\S+)", (yield f"grep {key} {naming}"))
        numbers = sorted(map(int, (yield f"cat {source}").splitlines()[1:-1]))
        yield f"mkdir {folder}; printf '%s\\n' {' '.join(map(str, numbers))} > {folder}/{result}"
        yield f"echo {numbers[-1]} > {note}; sed -i '1i {numbers[0]}' {note}"
    elif "Join" in instruction:
        first, second, _, result, note = _joined(instruction)
        lines = (yield f"cat {first} {second}").splitlines()[1:-1]
        yield f"printf '%s\\n' {' '.join(sorted(set(lines)))} > {result}"
        yield f"echo {len(set(lines))} > {note}"
    else:
        source, result, note = _once(instruction)
        lines = sorted(set((yield f"cat {source}").splitlines()[1:-1]))
        yield f"mv {source} {result}; printf '%s\\n' {' '.join(lines)} > {result}; printf {lines[-1]} > {note}"
    yield "finish"


def _once(instruction: str) -> tuple[str, str, str]:
    """Return the source, the result and the note."""
    return (
        read(r"^Sort (\S+) into|lines of (\S+) into", instruction),
        read(r"into (\S+),", instruction),
        read(r"to (\S+), then delete|Then (\S+) shall hold", instruction),
    )


def _joined(instruction: str) -> tuple[str, str, str, str, str]:
    """Return the two sources, the joined file, the result and the note."""
    return (
        read(r"Join (\S+) and", instruction),
        read(r"and (\S+) into", instruction),
        read(r"into (\S+), sort", instruction),
        read(r"that into (\S+) with", instruction),
        read(r"of \S+ to (\S+), and", instruction),
    )


def _numbers(instruction: str) -> tuple[str, str, str, str, str]:
    """Return the file that names the source, its key, the result, the note and the folder."""
    return (
        read(r"^(\S+) says", instruction),
        read(r"belongs to (\w+)", instruction),
        read(r"by number into (\S+?)\. ", instruction),
        read(r"number to (\S+) and", instruction),
        read(r"make a folder (\w+)", instruction),
    )


# aggregate_csv


def _summed(instruction: str) -> tuple[str, str, str, str, str]:
    """Return the command that prints the person, the table, the rows' file, the result, and the folder or nothing."""
    person = "" if "calls open" in instruction else read(r"rows of (\w+) ", instruction)
    note = read(r"whom (\S+) calls", instruction) if not person else ""
    folder = read(r"in a folder (\w+)", instruction) if "in a folder" in instruction else ""
    return (
        f"echo {person}" if person else f"sed -n 's/^open //p' {note}",
        read(r"(\w+\.csv)", instruction),
        read(r"(\w+\.out)", instruction),
        read(r"numbers to (\S+\.num)|and (\S+\.num)", instruction),
        folder,
    )


def _there(instruction: str, part: str, folder: str) -> str:
    """Return where the rows are in the end."""
    return f"{folder}/{part}" if "Last" in instruction else part


def sum_with_awk(instruction: str, screen: str) -> ActionStream:
    """Let one program write the sum and the number of rows."""
    who, table, part, result, folder = _summed(instruction)
    person = read(r"^(\w+)$", (yield who))
    if folder:
        yield f"mkdir {folder}"
    part = _there(instruction, part, folder)
    yield f"awk -F, -v p={person} '$1 == p' {table} > {part}"
    yield f"awk -F, '{{ s += $2 }} END {{ print s; print NR }}' {part} > {result}"
    yield "finish"


def sum_in_the_shell(instruction: str, screen: str) -> ActionStream:
    """Add the numbers up with the shell's arithmetic."""
    who, table, part, result, folder = _summed(instruction)
    yield f"p=$({who}); mkdir -p {folder or '.'}"
    yield f'grep "^$p," {table} > {part}'
    yield f"s=0; n=0; while IFS=, read -r name value; do s=$((s + value)); n=$((n + 1)); done < {part}; echo $s $n"
    yield f"echo $s > {result} && echo $n >> {result}"
    if folder:
        yield f"mv {part} {folder}"
    yield "finish"


def sum_by_eye(instruction: str, screen: str) -> ActionStream:
    """Read the table, and write what follows from it."""
    who, table, part, result, folder = _summed(instruction)
    person = read(r"^(\w+)$", (yield who))
    rows = [row for row in (yield f"cat {table}").splitlines()[1:-1] if row.startswith(f"{person},")]
    if folder:
        yield f"mkdir -p {folder}"
    total = sum(int(row.partition(",")[2]) for row in rows)
    yield f"printf '%s\\n' {' '.join(rows)} > {_there(instruction, part, folder)}"
    yield f"printf '{total}\\n{len(rows)}\\n' > {result}"
    yield "finish"


def sum_with_paste_and_bc(instruction: str, screen: str) -> ActionStream:
    """Cut the numbers out, and let `bc` add them up."""
    who, table, part, result, folder = _summed(instruction)
    yield f"grep -w $({who}) {table} | tee {part}"
    yield (f"mkdir {folder}; " if folder else "") + f"cut -d, -f2 {part} | paste -sd+ | bc > {result}"
    yield f"wc -l < {part} >> {result}" + (f"; mv {part} {folder}/{part}" if folder else "")
    yield "finish"


# pipeline


def _column(instruction: str) -> tuple[str, ...]:
    """Return the table, the column, the result and the sorted values; of higher levels, the table, the result, the note
    and the folder and the file in capitals, or nothing."""
    table = read(r"(\w+\.csv)", instruction)
    result = read(r"(\w+\.out)", instruction)
    if "frequent" not in instruction:
        return table, read(r"(\w+\.tmp)", instruction), result, read(r"(\w+\.num)", instruction)
    folder = read(r"in a folder (\w+)", instruction) if "in a folder" in instruction else ""
    loud = read(r"to (\S+\.big)", instruction) if "capital" in instruction else ""
    return table, result, read(r"it to (\S+\.num)", instruction), folder, loud


def pipe_with_awk(instruction: str, screen: str) -> ActionStream:
    """Count, select and cut with `awk`."""
    if "frequent" not in instruction:
        table, column, result, short = _column(instruction)
        yield f"awk -F, '{{ print $2 }}' {table} > {column}; sort {column} | uniq > {short}"
        yield f"v=$(awk '++n[$1] == 2' {column}); awk -F, -v v=$v '$2 == v' {table} > {result}"
        yield "finish"
        return
    table, result, note, folder, loud = _column(instruction)
    seen = yield f"awk -F, '{{ n[$2]++ }} END {{ for (v in n) print n[v], v }}' {table} | sort -rn | sed 1q"
    often = read(r"^\d+ (\w+)$", seen)
    yield f"mkdir -p {folder or '.'}; awk -F, '$2 == \"{often}\" {{ print $1 }}' {table} | sort > {result}"
    yield f"(echo {often}; sed 1q {result}) > {note}"
    if loud:
        yield f"awk '{{ print toupper($0) }}' {result} > {loud}"
    yield "finish"


def pipe_by_eye(instruction: str, screen: str) -> ActionStream:
    """Read the table, and write what follows from it."""
    table = _column(instruction)[0]
    rows = [tuple(row.split(",")) for row in (yield f"cat {table}").splitlines()[1:-1]]
    values = [value for _, value in rows]
    often = max(values, key=values.count)
    if "frequent" not in instruction:
        _, column, result, short = _column(instruction)
        yield f"printf '%s\\n' {' '.join(values)} > {column}; sort -u {column} -o {short}"
        yield f"cat > {result} <<'END'\n" + "".join(f"{who},{what}\n" for who, what in rows if what == often) + "END"
        yield "finish"
        return
    _, result, note, folder, loud = _column(instruction)
    owners = sorted(who for who, what in rows if what == often)
    if folder:
        yield f"mkdir {folder}"
    yield f"printf '%s\\n' {' '.join(owners)} | tee {result}; printf '{often}\\n{owners[0]}\\n' > {note}"
    if loud:
        yield f"printf '%s\\n' {' '.join(owners).upper()} > {loud}"
    yield "finish"


def pipe_in_one_line(instruction: str, screen: str) -> ActionStream:
    """Do everything in one line, with a variable for the value."""
    if "frequent" not in instruction:
        table, column, result, short = _column(instruction)
        line = f"cut -f2 -d, < {table} | tee {column} | sort -u > {short}"
        yield f'{line}; grep ",$(sort {column} | uniq -d)$" {table} > {result}'
        yield "finish"
        return
    table, result, note, folder, loud = _column(instruction)
    line = f"v=$(cut -d, -f2 {table} | sort | uniq -c | sort -nr | head -1 | awk '{{ print $2 }}')"
    line += (
        f" && mkdir -p {folder or '.'} && echo $v > {note} && grep \",$v$\" {table} | sed 's/,.*//' | sort > {result}"
    )
    line += f" && head -1 {result} >> {note}" + (f" && tr '[:lower:]' '[:upper:]' < {result} > {loud}" if loud else "")
    yield line
    yield "finish"


WAYS: Ways = {
    "find_file": [find_with_globs, find_and_move, find_from_the_full_path],
    "count_lines": [count_with_grep, count_with_awk, count_by_eye, count_with_wc],
    "filter_lines": [filter_with_awk, filter_in_one_line, filter_with_sed],
    "sort_unique": [sort_with_uniq, sort_with_awk, sort_by_eye],
    "aggregate_csv": [sum_with_awk, sum_in_the_shell, sum_by_eye, sum_with_paste_and_bc],
    "pipeline": [pipe_with_awk, pipe_by_eye, pipe_in_one_line],
}
"""Family → its ways."""
