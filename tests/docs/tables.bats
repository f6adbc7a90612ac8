#!/usr/bin/env bats
# What the manual lists, against what the program does.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2034,SC2153,SC2317

load ../lib/rlock
load docs

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() {
  rlock_setup
  cd "$T" || return
}
teardown() { rlock_teardown; }

status_64() { try "$RLOCK" -k "$K"; }
status_69() { try "$RLOCK" -n -k "$K" -u "unix://$T/none" true; }
status_71() { # with few enough descriptors, but enough to be loaded
  local n
  for n in 4 5 6 7 8 9; do
    try bash -c 'for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        ((fd > 2)) && eval "exec $fd>&-"
      done
      exec prlimit --nofile="$0" "$@"' "$n" "$RLOCK" -n -k "$K" true
    [[ $status == 71 ]] && return
  done
}
status_75() { hold && try "$RLOCK" -n -k "$K" true; }
status_76() { try "$RLOCK" -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" del "$L"; }
status_77() { try "$RLOCK" -n -k "$K" -u "unix://nobody:x@$REDIS_SOCK" true; }
status_78() { r rpush "$L" x && try "$RLOCK" -n -k "$K" true; }
status_124() { try "$RLOCK" -k "$K" --max-run 0.1 sleep 20; }
status_126() { try "$RLOCK" -k "$K" /etc; }
status_127() { try "$RLOCK" -k "$K" no-such-command-anywhere; }

@test "EXIT STATUS: each status that can be provoked" {
  local n seen=0
  for n in $(manual_statuses); do
    [[ $n == 70 ]] && continue # a bug
    K=k.$n L=lock:k.$n
    "status_$n"
    is "$status" "$n"
    seen=$((seen + 1))
  done
  is "$seen" "$(declare -F | grep -c ' status_[0-9]')"
}

@test "EXIT STATUS: the command's, and 128+N for it and for the wait" {
  try "$RLOCK" -k "$K" -- sh -c 'exit 5'
  is "$status" 5
  try "$RLOCK" -k "$K" -- sh -c 'kill -KILL $$'
  is "$status" 137
  hold
  bg "$RLOCK" -k "$K" true
  wait_waiters 1
  kill -TERM "$PID"
  ended "$PID"
  is "$status" 143
}

@test "EXIT STATUS: the manual, the README and the program know the same ones" {
  local want
  want=$(manual_statuses | line)
  is "$(readme_table 'Exit status' | sed 's/|.*//' | grep -oE '^[0-9, ]+$' |
    grep -oE '[0-9]+' | line)" "$want"
  is "$( (sed -n 's/^#define STATUS_[A-Z]* \([0-9]*\)$/\1/p' \
    "$RLOCK_TESTS/../src/words/outcome.c" | grep -v 128
    echo 75) | sort -n | line)" "$want"
}

line() { tr '\n' ' ' | sed 's/ $//'; }

@test "THE LOCK: the hash of --shard, as other programs are told to find it" {
  local count=0 line
  while IFS= read -r line; do
    count=$((count + 1))
    is "$(sh -c "$line")" 8
  done < <(manual_section 'THE LOCK' | sed -n 's/\\e/\\/g; /^p[a-z0-9]* -[ce] /p')
  is "$count" 2
  try "$RLOCK" -k stock --shard user42/10 -- sh -c 'echo "$RLOCK_KEY $RLOCK_SHARD $("$@")"' x \
    "$REDIS_CLI" -s "$REDIS_SOCK" keys 'lock:stock*'
  is "$status $output" '0 stock 8 lock:stock:8'
}

@test "THE LOCK: the keys on the server are those that are listed" {
  local run
  run='"$RLOCK" -n -k deploy:prod -- sh -c "\"$REDIS_CLI\" -s \"$REDIS_SOCK\" keys \"*\""'
  r flushall >/dev/null
  K=deploy:prod L=lock:deploy:prod Q='rlock:queue:{lock:deploy:prod}'
  "$RLOCK" -k "$K" --once 1m --fence true
  bg "$RLOCK" -k "$K" -- sh -c "echo \$\$ >pid; $run >keys; exec sleep 30"
  wait_pidfile pid
  bg "$RLOCK" -k "$K" true
  wait_waiters 1
  # The nested run is over: its holds are gone, who waits is there.
  is "$(r keys '*' | cat - keys | sort -u)" "$(manual_section 'THE LOCK' |
    sed -n 's/^\.It \(r*lock:[^ ]*\) Ta .*/\1/p' | sort)"
  is "$(manual_section 'THE LOCK' | grep -c '^\.It r*lock:')" 5
}

@test "ENVIRONMENT: the command gets the variables that are listed, no others" {
  local given
  given=$(manual_section ENVIRONMENT |
    awk '/^Given to/ { on = 1 } on && /^\.El/ { exit } on && /^\.It Ev/ { print $3 }' | sort | line)
  is "$(env -u RLOCK_URL "$RLOCK" -u "$RLOCK_URL" -k "$K" -j 2 --fence --shard a/1 env |
    sed -n 's/^\(RLOCK_[A-Z]*\)=.*/\1/p' | grep -vxE 'RLOCK_(TESTS|PROGS|BUILD|TAP_DIR|SANITIZE)' |
    sort | line)" "$given"
  is "$(RLOCK_FENCE=1 RLOCK_SLOT=1 RLOCK_SHARD=1 "$RLOCK" -k "$K" env |
    grep -cE '^RLOCK_(FENCE|SLOT|SHARD)=')" 0
}

@test "FILES: the outcomes that are listed are those that the program knows" {
  is "$(manual_section FILES | awk '/^\.It Cm outcome/ { on = 1; next }
    /^\.It/ { on = 0 } on && /^\.Cm/ { print $2 }' | sort | line)" \
    "$(sed -n '/^outcome_word/,$s/.*return "\([a-z]*\)";.*/\1/p' \
      "$RLOCK_TESTS/../src/words/outcome.c" | sort -u | line)"
}

# listed_after TEXT: the words of the list in FILES that follows it.
listed_after() {
  manual_section FILES | awk -v text="$1" 'index($0, text) == 1 { on = 1 }
    on && /^\.El/ { exit } on && sub(/^\.It Cm /, "")' | tr -d ',' | tr -s ' ' '\n' | line
}

@test "FILES: the metrics that are listed are those that are written, in that order" {
  "$RLOCK" -k "$K" --metrics "$T/metrics" true
  is "$(sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$T/metrics" | line)" "$(listed_after 'The metrics')"
}

@test "FILES: the report has the members that are listed, in that order" {
  local listed
  listed=$(listed_after 'The report is')
  "$RLOCK" -k "$K" --report "$T/report" true
  is "$(python3 -c 'import json, sys; print(*json.load(sys.stdin))' <"$T/report")" "$listed"
  is "$(grep -o ': null' "$T/report" | grep -c .)" 5 # signal fence slot holder message
}

@test "the lengths of THE COMMAND follow from its formulas" {
  manual_section 'THE COMMAND' | awk '
    function ms(text) {
      return text ~ /m$/ ? text * 60000 : text * 1000
    }
    function min(a, b) { return a < b ? a : b }
    function max(a, b) { return a > b ? a : b }
    function near(got, want) {
      if (ms(got) - want > 0.5 || want - ms(got) > 0.5) { print got, want; bad = 1 }
    }
    /^\.It [0-9]/ {
      gsub(/ Ta/, "")
      ttl = ms($2); end = ttl - int(ttl / 100) - 2
      kill = end - min(max(int(ttl / 50), 5), 500)
      near($3, ttl / 3); near($4, kill - min(5000, int(ttl / 8)))
      near($5, kill); near($6, end); rows++
    }
    END { exit bad || rows != 3 }'
}
