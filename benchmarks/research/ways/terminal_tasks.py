"""Ways of the terminal's hand-written tasks."""

from __future__ import annotations

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, fixed, read


def find_the_odd_folder(instruction: str, screen: str) -> ActionStream:
    """Compare checksums, and answer with the folder whose sum is alone."""
    seen = yield "md5sum */hosts | sort"
    sums = [line.split() for line in seen.splitlines()[1:-1]]
    alone = [path for digest, path in sums if sum(digest == other for other, _ in sums) == 1]
    others = [path for _, path in sums if path not in alone]
    yield f"cat {alone[0]} > odd.txt && cat {others[-1]} > {alone[0]}"
    yield f"finish: {alone[0].partition('/')[0]}"


def bill_with_awk(instruction: str, screen: str) -> ActionStream:
    """Let `awk` join hours and rates."""
    seen = yield (
        'awk -F, \'NR == FNR { rate[$1] = $2; next } $1 == "kim" { s += $3 * rate[$2] } END { print "sum", s }\' '
        "rates.csv hours.csv"
    )
    total = read(r"^sum (\d+)$", seen)
    yield f"printf 'kim,{total}\\n' | tee -a bill.csv"
    yield f"finish: {total}"


def block_with_awk(instruction: str, screen: str) -> ActionStream:
    """Let `awk` count the failures of addresses that never got in."""
    seen = yield (
        'awk \'$2 == "ok" { ok[$4] = 1 } $2 == "fail" { n[$4]++ } END { for (a in n) if (!(a in ok)) print n[a], a }\' '
        "gate.log | sort -rn | head -1 | tee /tmp/worst"
    )
    yield "sed 's/^[0-9]* /deny /' /tmp/worst >> deny.list; cat deny.list"
    yield f"finish: {read(r'^([0-9]+) 10', seen)}"


def clean_one_by_one(instruction: str, screen: str) -> ActionStream:
    """List the old files, and remove each."""
    seen = yield "find cache -name '*.tmp' -type f -mtime +30 -print"
    paths = [line for line in seen.splitlines() if line.startswith("cache/")]
    for path in paths:
        yield f"rm {path}"
    yield f"finish: {len(paths)}"


WAYS: Ways = {
    "broken-config": [
        fixed(
            "in another order",
            "cat check.sh server.conf handover.txt",
            "printf 'root=/srv/pages\\nworkers=4\\nport=8080\\n' > server.conf",
            "bash check.sh",
        ),
        fixed(
            "with one sed",
            "sh check.sh; cat handover.txt",
            "sed -i -e 's/^prot=/port=/' -e 's/^workers=.*/workers=4/' -e '$a root=/srv/pages' server.conf",
            "bash ./check.sh",
        ),
        fixed(
            "the new line first",
            "bash check.sh; cat *",
            "sed -i '1i root=/srv/pages' server.conf; sed -i 's/prot/port/; s/=four$/=4/' server.conf; bash check.sh",
        ),
    ],
    "failed-logins": [
        block_with_awk,
        fixed(
            "by eye",
            "cat gate.log deny.list",
            "printf '%s\\n' 'deny 10.0.5.9' >> deny.list",
            "cat deny.list",
            "finish: 3",
        ),
        fixed(
            "with join",
            "comm -23 <(awk '/fail/{print $4}' gate.log | sort -u) <(awk '/ ok /{print $4}' gate.log | sort -u)",
            "grep -c 'fail .* 10.0.5.9' gate.log; grep -c 'fail .* 10.0.5.4' gate.log",
            "sed -i '$a deny 10.0.5.9' deny.list",
            "finish: 3 failures",
        ),
    ],
    "follow-the-pointer": [
        fixed(
            "with substitutions",
            "r=$(cat current); cp releases/$r/settings settings.bak",
            "sed -i 's/^level=.*/level=debug/' releases/$r/settings; cat current >> history.txt",
        ),
        fixed(
            "from the copy",
            "cat current",
            "mv releases/amber/settings settings.bak",
            'awk -F= \'$1=="level"{$0="level=debug"}1\' settings.bak > releases/amber/settings',
            "printf '%s\\n' amber | tee -a history.txt",
        ),
        fixed(
            "history first",
            "cat current | tee -a history.txt",
            "cd releases/amber; cat settings > ../../settings.bak; printf 'level=debug\\ncolour=amber\\n' > settings",
        ),
    ],
    "kims-bill": [
        bill_with_awk,
        fixed(
            "by eye", "head *.csv", "sed -i '$a kim,50' bill.csv", "tail bill.csv", "finish: kim's hours cost 50 in all"
        ),
        fixed("above the other row", "cat hours.csv rates.csv bill.csv", "sed -i '1a kim,50' bill.csv", "finish: 50"),
    ],
    "merge-guests": [
        fixed(
            "with uniq",
            "cat friday.txt saturday.txt | sort | uniq > guests.txt",
            "wc -l < guests.txt > count.txt",
            "mkdir done && mv friday.txt done/ && mv saturday.txt done/",
        ),
        fixed(
            "the lists first",
            "mkdir -p done; mv *day.txt done",
            "sort -u done/*.txt -o guests.txt",
            "grep -c . guests.txt | tee count.txt",
        ),
        fixed(
            "with awk",
            "awk '!a[$0]++' friday.txt saturday.txt | sort | tee guests.txt | awk 'END{print NR}' > count.txt",
            "install -d done; cp friday.txt saturday.txt done; rm friday.txt saturday.txt",
        ),
    ],
    "night-rota": [
        fixed(
            "with grep and awk",
            "cat rota; ls jobs",
            "grep -v invoices rota > /tmp/rota",
            "awk '$4 == \"compact\" { $2 = 3 } 1' /tmp/rota > rota; cat rota",
        ),
        fixed("with one sed", "cat rota; ls -R", "sed -i -e '4s/ 2 / 3 /' -e 3d rota"),
        fixed("anew", "head rota jobs/*", "printf '%s\\n' '0 2 * backup' '30 2 mon report' '0 3 sun compact' > rota"),
    ],
    "odd-one-out": [
        find_the_odd_folder,
        fixed(
            "by moving",
            "cat north/hosts south/hosts west/hosts",
            "mv south/hosts odd.txt && cp west/hosts south/",
            "finish: south",
        ),
        fixed(
            "one line changed",
            "cmp north/hosts west/hosts; cmp north/hosts south/hosts",
            "cp south/hosts odd.txt; sed -i 's/10\\.7/10.2/' south/hosts",
            "finish: south",
        ),
    ],
    "pack-old-reports": [
        fixed(
            "with dots",
            "tar czf 2024.tar.gz ./2024-*.txt; cat keep.list",
            "for f in 2024-*.txt; do grep -qx $f keep.list || rm $f; done",
        ),
        fixed(
            "the newest first",
            "tar -czvf 2024.tar.gz 2024-10.txt 2024-07.txt 2024-04.txt",
            "ls 2024-*.txt | grep -vxFf keep.list | xargs rm; ls",
        ),
        fixed(
            "packed and then pressed",
            "cat keep.list; tar -cf 2024.tar 2024-*.txt && gzip 2024.tar && ls",
            "rm 2024-04.txt; rm 2024-10.txt",
        ),
    ],
    "private-keys": [
        fixed(
            "by letters",
            "chmod u=rw,go= $(grep -l private keys/*)",
            "chmod u=rw,go=r $(grep -L private keys/*)",
            "chmod u=rwx,go= deploy.sh; ls -l . keys",
        ),
        fixed(
            "in a loop",
            "for f in keys/*; do if grep -q private $f; then chmod 600 $f; else chmod 644 $f; fi; done",
            "chmod 0700 deploy.sh",
        ),
        fixed(
            "the script first",
            "ls -l; ls -l keys; head keys/*",
            "chmod 700 deploy.sh",
            "cd keys && chmod go-rwx door safe && chmod go-w lift",
        ),
    ],
    "roll-back": [
        fixed(
            "by its full path",
            "ls -l current; head releases/*/status",
            "ln -sfn /srv/shop/releases/1.9 current",
            "printf 1.9 > rollback.txt",
        ),
        fixed(
            "with a slash",
            "cat releases/*/status",
            "rm current && ln -s releases/1.9/ current; echo 1.9 | tee rollback.txt",
        ),
        fixed(
            "by sorting",
            "v=$(grep -l passed releases/*/status | cut -d/ -f2 | sort -V | tail -1); echo $v > rollback.txt",
            "ln -s releases/$v new && mv -T new current; ls -l",
        ),
        fixed("with dots", "grep -r . releases", "ln -snf ./releases/1.9 current && echo 1.9 > rollback.txt"),
    ],
    "rotate-log": [
        fixed("by copying", "mkdir logs && cp app.log logs/app.1.log && : > app.log"),
        fixed("in one line", "mkdir -p logs; mv app.log logs/app.1.log; > app.log; ls -l . logs"),
        fixed("with truncate", "mkdir logs", "cat app.log > logs/app.1.log", "truncate -s 0 app.log", "wc -c app.log"),
    ],
    "services-down": [
        fixed(
            "by hand",
            "cat services.json",
            "printf 'mail\\nqueue\\n' > restart.txt",
            'sed -i -e \'/"queue"/s/"down"/"starting"/\' -e \'/"mail"/s/"down"/"starting"/\' services.json',
        ),
        fixed(
            "on one line",
            "jq -r '[.[] | select(.wanted and .state == \"down\").name] | sort[]' services.json > restart.txt",
            'jq -c \'[.[] | if .wanted and .state == "down" then .state = "starting" else . end]\' services.json'
            " > /tmp/s",
            "cat /tmp/s > services.json",
        ),
        fixed(
            "with sorted keys",
            "jq -r 'map(select(.wanted and .state == \"down\")) | sort_by(.name) | .[].name' services.json"
            " | tee restart.txt",
            'jq -S \'(.[] | select(.wanted and .state == "down").state) |= "starting"\' services.json > /tmp/s',
            "cp /tmp/s services.json",
        ),
    ],
    "stale-cache": [
        clean_one_by_one,
        fixed(
            "with xargs",
            "find cache -name '*.tmp' -mtime +30 | wc -l",
            "find cache -name '*.tmp' -mtime +30 -print0 | xargs -0 rm -v",
            "finish: I deleted 3 files",
        ),
        fixed("with exec", "find cache/ -type f -name '*.tmp' -mtime +30 -print -exec rm {} +", "finish: 3"),
    ],
}
"""Hand-written task → its ways."""
