#!/usr/bin/env bats
# shellcheck disable=SC2016 # for the shells within
# --metrics and --log json: what happened, for programs.

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; M=$T/rlock.prom; }
teardown() { rlock_teardown; }

# metric NAME LABELS: its value; LABELS as written, but for the key.
metric() {
  python3 -I -S - "$M" "$1" "$K" "$2" <<'END'
import re, sys
path, name, key, labels = sys.argv[1:]
want = dict(re.findall(r'(\w+)="([^"]*)"', labels), key=key)
for line in open(path, encoding="utf-8"):
    match = re.fullmatch(r'(\w+)\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\} ([0-9.]+)\n', line)
    if not match:
        assert line.startswith("# "), line
        continue
    found = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2]))
    if match[1] == name and found == want:
        print(match[3])
END
}

@test "a run is counted, by how it ended" {
  "$RLOCK" -k "$K" --metrics "$M" -- true
  try "$RLOCK" -k "$K" --metrics "$M" -- sh -c 'exit 3'
  hold
  try "$RLOCK" -k "$K" --metrics "$M" -n -- true
  is "$status" 75
  let_go
  is "$(metric rlock_runs_total 'outcome="ran"')" 2
  is "$(metric rlock_runs_total 'outcome="busy"')" 1
  is "$(metric rlock_conflicts_total '')" 1
  is "$(metric rlock_lost_total '')" 0
  is "$(metric rlock_last_exit_status '')" 75
  is "$(metric rlock_wait_seconds_count '')" 3
  is "$(metric rlock_wait_seconds_bucket 'le="+Inf"')" 3
  is "$(metric rlock_hold_seconds_count '')" 2
  between $(($(date +%s) - 60)) "$(metric rlock_last_run_timestamp_seconds '' | cut -d . -f 1)" "$(date +%s)"
}

@test "renewals, what was left of the lease, a loss" {
  hold -t 600ms --metrics "$M"
  pass_ms 700
  r del "$L" >/dev/null
  ended "$HOLDER"
  is "$(metric rlock_lost_total '')" 1
  (("$(metric rlock_renewals_total '')" >= 2))
  is "$(metric rlock_last_success_timestamp_seconds '')" ''
  [[ $(metric rlock_lease_margin_seconds '') == 0.* ]]
}

@test "fifty at once, each with a report: no count is lost" {
  local i pids
  for i in $(seq 50); do
    bg "$RLOCK" -k "$K" -s --metrics "$M" --report "$T/report.$i" -- true
  done
  pids=("${STARTED[@]}")
  for i in "${pids[@]}"; do
    ended "$i" 30
    is "$status" 0
  done
  is "$(metric rlock_runs_total 'outcome="ran"')" 50
  is "$(metric rlock_wait_seconds_count '')" 50
  is "$(metric rlock_hold_seconds_bucket 'le="+Inf"')" 50
  for i in $(seq 50); do is "$(fact "$T/report.$i" outcome)" ran; done
}

@test "a reader in between never sees half a file" {
  local i
  bg sh -c 'while [ ! -e "$T/stop" ]; do
    [ ! -s "$0" ] || [ "$(tail -c 1 "$0" | od -An -c | tr -d " ")" = "\n" ] || echo half >>"$T/half"
  done' "$M"
  for i in $(seq 20); do "$RLOCK" -k "$K" --metrics "$M" -- true; done
  touch "$T/stop"
  ended "$PID"
  [ ! -e "$T/half" ]
  is "$(metric rlock_runs_total 'outcome="ran"')" 20
}

@test "names that need escaping, and several keys in one file" {
  local key
  for key in 'a"b\c' $'new\nline' $'\xff' plain; do
    "$RLOCK" -k "$key" --metrics "$M" -- true
    "$RLOCK" -k "$key" --metrics "$M" -- true
  done
  grep -qxF 'rlock_runs_total{key="a\"b\\c",outcome="ran"} 2' "$M"
  grep -qxF 'rlock_runs_total{key="new\nline",outcome="ran"} 2' "$M"
  grep -qxF 'rlock_runs_total{key="�",outcome="ran"} 2' "$M"
  grep -qxF 'rlock_runs_total{key="plain",outcome="ran"} 2' "$M"
  is "$(grep -c '^# TYPE' "$M")" "$(grep '^# TYPE' "$M" | sort -u | grep -c .)"
}

@test "what rlock has not written, or is damaged, is left alone; the run is well" {
  local file
  echo 'node_load1 0.5' >"$T/foreign"
  "$RLOCK" -k "$K" --metrics "$T/damaged" -- true
  sed -i 's/^rlock_runs_total.*/& garbage/' "$T/damaged"
  "$RLOCK" -k "$K" --metrics "$T/cut" -- true
  truncate -s -3 "$T/cut"
  mkfifo "$T/fifo"
  mkdir "$T/folder"
  for file in foreign damaged cut fifo folder none/there; do
    [[ -f $T/$file ]] && cp "$T/$file" "$T/before"
    try "$RLOCK" -k "$K" --metrics "$T/$file" -- sh -c 'exit 7'
    is "$status" 7
    [[ $output == "rlock: $K: no metrics written to $T/$file: "* ]]
    [[ ! -f $T/$file ]] || cmp "$T/$file" "$T/before"
  done
  is "$(find "$T" -name '*.??????' | wc -l)" 0
}

# events FILE: the events, in order.
events() {
  python3 -I -S -c 'import json, sys
for line in open(sys.argv[1]):
    event = json.loads(line)
    assert event["ts"].endswith("Z") and event["key"] and event["message"], event
    print(event["event"], end=" ")' "$1"
}

@test "log: each event is a line of JSON" {
  "$RLOCK" -k "$K" --log json -- true 2>"$T/err"
  is "$(events "$T/err")" 'acquired released '
  "$RLOCK" -k "$K" --log json -v -t 600ms -- sh -c 'exec sleep 0.5' 2>"$T/err"
  is "$(events "$T/err")" 'acquired renewed renewed released ' ||
    is "$(events "$T/err")" 'acquired renewed released '
  hold
  try sh -c '"$RLOCK" -k "$K" --log json -n -- true 2>"$T/err"'
  is "$(events "$T/err")" 'busy '
  bg sh -c 'exec "$RLOCK" -k "$K" --log json -w 20 -- true 2>"$T/err"'
  wait_waiters 1
  let_go
  ended "$PID"
  is "$(events "$T/err")" 'waiting acquired released '
}

@test "log: a loss, and the way to it" {
  bg sh -c 'exec "$RLOCK" -k "$K" --log json -t 600ms -- sh -c "$SH_HOLD" "$T/pid" 2>"$T/err"'
  wait_pidfile "$T/pid" >/dev/null
  r del "$L" >/dev/null
  ended "$PID"
  is "$status" 76
  is "$(events "$T/err")" 'acquired lost stopping '
}

@test "log: done before, errors, odd names, nothing at all with -q" {
  "$RLOCK" -k "$K" --once 1h -- true
  "$RLOCK" -k "$K" --once 1h --log json -- true 2>"$T/err"
  is "$(events "$T/err")" 'skipped '
  try sh -c '"$RLOCK" -k "$K" --log json -u redis://127.0.0.1:1 -n -- true 2>"$T/err"'
  is "$(events "$T/err")" 'error '
  "$RLOCK" -k $'a"\n\xff' --log json -- true 2>"$T/err"
  is "$(events "$T/err")" 'acquired released '
  "$RLOCK" -k "$K" --log json -q -- true 2>"$T/err"
  is "$(cat "$T/err")" ''
}

# Files of all kinds of runs, for those who read them in earnest.
all_kinds() {
  "$RLOCK" -k "$K" --metrics "$M" -- true
  "$RLOCK" -k $'odd "\\\n\xff name' --metrics "$M" -- true
  try "$RLOCK" -k "$K" --metrics "$M" --max-run 50ms -- sleep 5
  hold -t 300ms --metrics "$M"
  try "$RLOCK" -k "$K" --metrics "$M" -n -- true
  pass_ms 400
  let_go
  try "$RLOCK" -u "unix://$T/nobody" --connect-timeout 50ms -k "$K" --metrics "$M" -- true
  "$RLOCK" -u "local:$T/locks" -k "$K" --metrics "$M" --once 1h -- true
  "$RLOCK" -u "local:$T/locks" -k "$K" --metrics "$M" --once 1h -- true
}

@test "promtool has no complaint" {
  local promtool
  promtool=$(type -P promtool || type -P "$RLOCK_TESTS/../build/tools/promtool") ||
    skip 'promtool is not there (make deps)'
  all_kinds
  "$promtool" check metrics <"$M" >"$T/said" 2>&1
  cat "$T/said"
  [[ ! -s $T/said ]]
}

@test "the parser of Prometheus' own library reads it, with what we meant" {
  local python
  for python in python3 /usr/bin/python3 ''; do
    [[ $python ]] || skip 'python3-prometheus-client is not there (make deps)'
    "$python" -c 'import prometheus_client' 2>/dev/null && break
  done
  all_kinds
  "$python" - "$M" "$K" <<'END'
import sys
from prometheus_client.parser import text_string_to_metric_families
text = open(sys.argv[1], encoding="utf-8").read()
families = {f.name: f for f in text_string_to_metric_families(text)}
kinds = {name: f.type for name, f in families.items()}
assert kinds["rlock_runs"] == "counter", kinds
assert kinds["rlock_wait_seconds"] == "histogram", kinds
assert kinds["rlock_last_exit_status"] == "gauge", kinds
keys = {s.labels["key"] for f in families.values() for s in f.samples}
assert keys == {sys.argv[2], 'odd "\\\n\ufffd name'}, keys
runs = {s.labels["outcome"]: s.value for s in families["rlock_runs"].samples
        if s.labels["key"] == sys.argv[2]}
assert runs == {"ran": 3, "timeout": 1, "busy": 1, "unavailable": 1, "skipped": 1}, runs
for name in "rlock_wait_seconds", "rlock_hold_seconds":
    for key in keys:
        last, inf, count = 0, None, None
        for s in families[name].samples:
            if s.labels["key"] != key:
                continue
            if s.name.endswith("_bucket"):
                assert s.value >= last, s
                last = s.value
                if s.labels["le"] == "+Inf":
                    inf = s.value
            elif s.name.endswith("_count"):
                count = s.value
        assert inf == count, (name, key, inf, count)
assert all(f.documentation for f in families.values())
END
}
