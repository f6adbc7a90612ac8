#!/usr/bin/env bats
# local: - the lock of this host, without a server.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup() {
  rlock_setup
  D=$T/locks
  F=$D/lock:$K
  export D RLOCK_URL=local:$D
  # What looks for leaks can't work under strace.
  NO_LEAKS=ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
}
teardown() { rlock_teardown; }

# waits [RLOCK OPTIONS...]: a run in the background that waits for K, and
# appends its name, NAME=..., to "$T/log" once it has it.
waits() {
  local err=$T/err${#STARTED[@]}
  bg "$RLOCK" -v -k "$K" "$@" -- sh -c 'echo "$NAME" >>"$T/log"' 2>"$err"
  wait_line "$err" 'waiting: held by'
}

@test "a free lock is taken, and the status passed through" {
  try "$RLOCK" -k "$K" -- sh -c 'exit 7'
  is "$status" 7
  is "$output" ''
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 0
}

@test "held: -n ends with 75 at once, -E sets another, the command does not run" {
  hold
  try "$RLOCK" -k "$K" -n -- touch "$T/ran"
  is "$status" 75
  try "$RLOCK" -k "$K" -n -E 0 -- touch "$T/ran"
  is "$status" 0
  try "$RLOCK" -v -k "$K" -w 0 -- touch "$T/ran"
  is "$status" 75
  [[ $output == *"busy: held by "*"pid $HOLDER, "* ]]
  [[ ! -e $T/ran ]]
}

@test "-w gives up in time, -r by the sum of its pauses" {
  local from
  hold
  from=$(now_ms)
  try "$RLOCK" -k "$K" -w 300ms -- touch "$T/ran"
  is "$status" 75
  between 280 $(($(now_ms) - from)) 3000
  from=$(now_ms)
  try "$RLOCK" -k "$K" -r 2 -- touch "$T/ran"
  is "$status" 75
  between 280 $(($(now_ms) - from)) 3000
  [[ ! -e $T/ran ]]
}

@test "who waits is woken by the release" {
  local from
  hold
  NAME=second waits -w 30
  from=$(now_ms)
  let_go
  ended "$PID"
  is "$status" 0
  is "$(cat "$T/log")" second
  # The look that comes without one is a second away.
  between 0 $(($(now_ms) - from)) 900
}

@test "ten at once: each runs alone" {
  local i
  for i in 1 2 3 4 5 6 7 8 9 10; do
    bg "$RLOCK" -k "$K" -- sh -c 'mkdir "$T/inside" || echo overlap >>"$T/bad"
      echo ran >>"$T/log"; rmdir "$T/inside"'
  done
  for i in "${STARTED[@]}"; do
    ended "$i" 20
    is "$status" 0
  done
  is "$(lines "$T/log")" 10
  [[ ! -e $T/bad ]]
}

@test "a hundred hand-overs between four: none overlaps, none is forgotten" {
  local i
  for i in 1 2 3 4; do
    bg sh -c 'i=0; while [ $i -lt 25 ]; do i=$((i + 1))
      "$RLOCK" -k "$K" -w 30 -- sh -c "mkdir \"\$T/inside\" || echo overlap >>\"\$T/bad\"
        echo ran >>\"\$T/log\"; rmdir \"\$T/inside\"" || echo failed >>"$T/bad"; done'
  done
  for i in "${STARTED[@]}"; do ended "$i" 60; done
  is "$(lines "$T/log")" 100
  [[ ! -e $T/bad ]]
}

@test "a signal ends the wait" {
  hold
  NAME=never waits
  kill -TERM "$PID"
  ended "$PID" 2
  is "$status" 143
  [[ ! -e $T/log ]]
}

@test "rlock is killed: the command ends, and then the lock is free" {
  hold
  NAME=second waits -w 30
  kill -KILL "$HOLDER"
  ended "$PID"
  is "$status" 0
  # The one that got it came after the end of the other's command.
  group_gone "$CMD"
}

@test "rlock and its guard are killed: free as well" {
  hold
  kill -KILL "$(guard_of "$HOLDER")"
  kill -KILL "$HOLDER"
  ended "$HOLDER"
  try "$RLOCK" -k "$K" -w 10 -- true
  is "$status" 0
}

@test "the lock is kept while the guard still ends the command" {
  local guard
  hold
  guard=$(guard_of "$HOLDER")
  kill -STOP "$guard"
  wait_stopped "$guard"
  kill -KILL "$HOLDER"
  ended "$HOLDER"
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  kill -CONT "$guard"
  try "$RLOCK" -k "$K" -w 10 -- true
  is "$status" 0
}

@test "no descriptor of it is the command's, or what it leaves behind holds" {
  "$RLOCK" -k "$K" -- sh -c 'ls -l /proc/self/fd >"$T/fds"; sleep 30 >/dev/null 2>&1 3>&- &
    echo $! >"$T/left"'
  STARTED+=("$(cat "$T/left")")
  not grep -q "lock:" "$T/fds"
  alive "$(cat "$T/left")"
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 0
}

@test "stopped beyond the TTL it keeps the lock: nothing can take it" {
  hold -t 200ms
  kill -STOP "$HOLDER"
  wait_stopped "$HOLDER"
  pass_ms 700
  alive "$CMD"
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  kill -CONT "$HOLDER"
  pass_ms 300
  alive "$CMD"
  let_go
  is "$status" 143
}

@test "the file is removed while it is held: lost, 76" {
  bg "$RLOCK" -k "$K" -t 600ms -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  CMD=$(wait_pidfile "$T/hold.pid")
  rm "$F"
  ended "$PID" 5
  is "$status" 76
  grep -q "^rlock: $K: lock lost: " "$T/err"
}

@test "the file is removed while one waits: it goes on with the new one" {
  hold -t 1h
  NAME=second waits -w 30
  rm "$F"
  "$RLOCK" -k "$K" -w 20 -- true
  ended "$PID"
  is "$status" 0
  kill -KILL "$HOLDER"
}

@test "-s: many readers, no writer among them" {
  hold -s
  try "$RLOCK" -s -k "$K" -n -- true
  is "$status" 0
  try "$RLOCK" -x -k "$K" -n -- true
  is "$status" 75
  let_go
  hold
  try "$RLOCK" -s -k "$K" -n -- true
  is "$status" 75
}

@test "-s: a writer is woken when the last reader leaves" {
  local first
  hold -s
  first=$HOLDER
  hold -s
  NAME=writer waits -x -w 30
  let_go
  alive "$PID"
  kill -TERM "$first"
  ended "$PID"
  is "$status" 0
}

@test "-j: so many at once, each in a slot of its own, the lowest free one" {
  local first
  hold -j 2
  first=$HOLDER
  is "$("$RLOCK" -k "$K" -j 2 -n -- sh -c 'echo $RLOCK_SLOT')" 1
  hold -j 2
  try "$RLOCK" -k "$K" -j 2 -n -- true
  is "$status" 75
  kill -TERM "$first"
  ended "$first"
  is "$("$RLOCK" -k "$K" -j 2 -n -- sh -c 'echo $RLOCK_SLOT')" 0
}

@test "-j: who waits is woken when a slot is free" {
  hold -j 1
  NAME=second waits -j 1 -w 30
  let_go
  ended "$PID"
  is "$status" 0
}

@test "kinds that can't meet: 78, told apart from busy; a writer waits for both" {
  hold -j 2
  try "$RLOCK" -k "$K" -j 3 -n -- true
  is "$status" 78
  [[ $output == *'one of 2 slots (-j 2)'* ]]
  try "$RLOCK" -k "$K" -s -n -- true
  is "$status" 78
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
}

@test "nested: in again at once; the lock is free at the end" {
  "$RLOCK" -k "$K" -n -- "$RLOCK" -k "$K" -n -- "$RLOCK" -k "$K" -n -- "$RLOCK" -k "$K" -s -n -- true
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 0
}

@test "nested: one that outlives the outer run keeps the lock" {
  local inner
  "$RLOCK" -k "$K" -- sh -c '"$RLOCK" -k "$K" -- sh -c "$SH_HOLD" "$T/in.pid" >/dev/null 2>&1 3>&- &
    echo $! >"$T/rlock"; while [ ! -s "$T/in.pid" ]; do :; done'
  inner=$(cat "$T/rlock")
  STARTED+=("$inner")
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  try "$RLOCK" -k "$K" -s -n -- true
  is "$status" 75
  kill -TERM "$inner"
  try "$RLOCK" -k "$K" -w 10 -- true
  is "$status" 0
}

@test "nested: a killed inner one costs the outer one nothing" {
  hold -t 300ms
  bg env "RLOCK_TOKENS=$(tr '\0' '\n' <"/proc/$CMD/environ" | sed -n 's/^RLOCK_TOKEN=//p')" \
    "$RLOCK" -k "$K" -n -- sh -c "$SH_HOLD" "$T/in.pid"
  wait_pidfile "$T/in.pid" >/dev/null
  kill -KILL "$PID"
  ended "$PID"
  pass_ms 400
  alive "$CMD"
  let_go
  try "$RLOCK" -k "$K" -w 10 -- true
  is "$status" 0
}

@test "nested: exclusive below shared, and slots that are full of runs above: 64" {
  try "$RLOCK" -k "$K" -s -- "$RLOCK" -k "$K" -x -w 30 -- true
  is "$status" 64
  [[ $output == *'would wait for itself'* ]]
  try "$RLOCK" -k "$K" -s -- "$RLOCK" -k "$K" -s -n -- true
  is "$status" 0
  try "$RLOCK" -k "$K" -j 2 -- "$RLOCK" -k "$K" -j 2 -- "$RLOCK" -k "$K" -j 2 -w 30 -- true
  is "$status" 64
}

@test "nested: the tokens of a run that is over are worth nothing" {
  local tokens
  tokens=$("$RLOCK" -k "$K" -- sh -c 'echo "$RLOCK_TOKENS"')
  hold
  try env "RLOCK_TOKENS=$tokens" "$RLOCK" -k "$K" -n -- true
  is "$status" 75
}

@test "--min-hold: the lock stays taken, rlock does not" {
  local from
  from=$(now_ms)
  "$RLOCK" -k "$K" --min-hold 1500ms -- true
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  try "$RLOCK" -k "$K" -s -n -- true
  is "$status" 75
  try "$RLOCK" -k "$K" -w 30 -- true
  is "$status" 0
  between 1450 $(($(now_ms) - from)) 6000
}

@test "--min-hold: a slot stays taken, the others don't" {
  "$RLOCK" -k "$K" -j 2 --min-hold 1h -- true
  is "$("$RLOCK" -k "$K" -j 2 -n -- sh -c 'echo $RLOCK_SLOT')" 1
  hold -j 2
  try "$RLOCK" -k "$K" -j 2 -n -- true
  is "$status" 75
  try "$RLOCK" -k "$K" -x -n -- true
  is "$status" 75
}

@test "--min-hold: of a nested run" {
  "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" --min-hold 1h -- true
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
}

@test "--once: what has succeeded is not done again, what has failed is" {
  try "$RLOCK" -k "$K" --once 1h -- false
  is "$status" 1
  "$RLOCK" -k "$K" --once 1h -- true
  try "$RLOCK" -k "$K" --once 1h --once-exit-code 9 -- touch "$T/ran"
  is "$status" 9
  [[ ! -e $T/ran ]]
  "$RLOCK" -k "$K" -- touch "$T/ran"
  [[ -e $T/ran ]]
}

@test "--once: who waits is told when the other has done it; over, it is done again" {
  hold --once 1
  NAME=again waits --once 1 -w 30
  kill -KILL "$CMD" # no success
  ended "$PID"
  is "$(lines "$T/log")" 1
  NAME=third "$RLOCK" -k "$K" --once 1 -- sh -c 'echo $NAME >>"$T/log"'
  is "$(lines "$T/log")" 1
  pass_ms 1100
  NAME=third "$RLOCK" -k "$K" --once 1 -- sh -c 'echo $NAME >>"$T/log"'
  is "$(tail -1 "$T/log")" third
}

@test "after a boot the wall clock counts" {
  local line
  "$RLOCK" -k "$K" --once 1h -- true
  # The marker as it would be read after a boot, made here by hand.
  line=$(remade 's/ [0-9a-f]{8}-[0-9a-f-]{27} \d+ / 00000000-0000-0000-0000-000000000000 1 /')
  grep -q ' 00000000-' <<<"$line"
  try "$RLOCK" -k "$K" --once 1h --once-exit-code 9 -- true
  is "$status" 9
  remade 's/(-000000000000 1) \d+ /$1 1000 /' >/dev/null
  try "$RLOCK" -k "$K" --once 1h --once-exit-code 9 -- true
  is "$status" 0
}

# remade EXPRESSION: change the line of the marker, checksum and all; print it.
remade() {
  perl -e '
    my ($file, $e) = @ARGV; my $at = 4096 + 8192 * 1024;
    open my $f, "+<", $file or die; seek $f, $at, 0; read $f, my $line, 1024;
    $line =~ s/\n.*//s; $line = substr $line, 9;
    eval "\$line =~ $e; 1" or die $@; $line .= "\n";
    my $crc = 0xffffffff;
    for (unpack "C*", $line) { $crc ^= $_; $crc = $crc & 1 ? $crc >> 1 ^ 0xedb88320 : $crc >> 1 for 1 .. 8 }
    my $out = sprintf "%08x %s", $crc ^ 0xffffffff, $line;
    seek $f, $at, 0; print $f $out . "\0" x (1024 - length $out); print $out' "$F" "$1"
}

@test "--shard, --note, RLOCK_KEY, RLOCK_TOKEN and the report as ever" {
  "$RLOCK" -k "$K" --shard u7/4 --note hello --report "$T/report" -- sh -c 'env >"$T/env"'
  grep -qE '^RLOCK_SHARD=[0-3]$' "$T/env"
  grep -q "^RLOCK_KEY=$K\$" "$T/env"
  grep -q '^RLOCK_TOKEN=rlock:1:.*:hello$' "$T/env"
  is "$(fact "$T/report" outcome)" ran
}

@test "--max-run and --signal as ever" {
  try "$RLOCK" -k "$K" --max-run 100ms -- sleep 30
  is "$status" 124
}

@test "--status: who holds it, cooling down, done, free" {
  try "$RLOCK" --status "$K"
  is "$status" 1
  hold --note 'build 7'
  try "$RLOCK" --status "$K"
  is "$status" 0
  [[ $output == *"held, exclusive"*"pid $HOLDER,"*"build 7"* ]]
  let_go
  "$RLOCK" -k "$K" --once 1h --min-hold 1h -- true
  try "$RLOCK" --status "$K"
  is "$status" 0
  [[ $output == *cooling* && $output == *'(--once)'* ]]
  hold -k other -s
  try "$RLOCK" --status other --json
  is "$(perl -MJSON::PP -e 'my $d = decode_json($ARGV[0]); print $d->{mode}, scalar @{$d->{holders}}' "$output")" shared1
}

@test "--list: those under the prefix that are held, by pattern" {
  hold
  "$RLOCK" -k free -- true
  "$RLOCK" --prefix other: -k "$K" --min-hold 1h -- true
  try "$RLOCK" --list
  is "$status" 0
  is "${#lines[@]}" 2
  [[ ${lines[1]} == "$K "*exclusive* ]]
  try "$RLOCK" --list 'z*'
  is "$output" ''
  try "$RLOCK" --list "${K:0:1}*" --json
  is "${#lines[@]}" 1
}

@test "what needs a server is a usage error that says so" {
  local options
  echo secret >"$T/x"
  for options in '--acquire -t 5' '--release --token rlock:1:00000000000000000000000000000000' \
    '--break' '--replicas 1 -- true' '--fence -- true' "--password-file $T/x -- true"; do
    # shellcheck disable=SC2086
    try "$RLOCK" -k "$K" $options
    is "$status" 64
    [[ $output == *local:* ]]
  done
  [[ ! -e $D ]]
}

@test "names of any bytes, each its own lock" {
  local name long
  long=$(printf '%0900d' 0)
  for name in . .. / a/b ../x 'a b' $'line\nfeed' $'\xff\xfe' '%' "${long}1" "${long}2" "é${long}"; do
    "$RLOCK" -k "$name" -n -- sh -c 'echo "$RLOCK_KEY" >>"$T/names"'
  done
  is "$(find "$D" -type f | wc -l)" 12
  hold -k "${long}1"
  "$RLOCK" -k "${long}2" -n -- true
  try "$RLOCK" --list --json
  is "${#lines[@]}" 1
}

@test "a prefix beyond all measure is a usage error" {
  try "$RLOCK" --prefix "$(printf '%05000d' 0)" -k "$K" -- true
  is "$status" 64
}

@test "the folder: made with mode 0700; a link, no folder, not sticky: refused" {
  "$RLOCK" -k "$K" -- true
  is "$(stat -c %a "$D")" 700
  ln -s "$D" "$T/link"
  try "$RLOCK" -u "local:$T/link" -k "$K" -- touch "$T/ran"
  is "$status" 69
  [[ $output == *'symbolic link'* ]]
  : >"$T/file"
  try "$RLOCK" -u "local:$T/file" -k "$K" -- touch "$T/ran"
  is "$status" 69
  chmod 777 "$D"
  try "$RLOCK" -k "$K" -- touch "$T/ran"
  is "$status" 69
  [[ $output == *'chmod +t'* ]]
  chmod 1777 "$D"
  "$RLOCK" -k "$K" -- true
  try "$RLOCK" -u "local:$T/no/such" -k "$K" -- touch "$T/ran"
  is "$status" 71
  [[ ! -e $T/ran ]]
}

@test "a file that is not ours is refused, and not touched" {
  mkdir -m 700 "$D"
  echo precious >"$F"
  try "$RLOCK" -k "$K" -- touch "$T/ran"
  is "$status" 78
  is "$(cat "$F")" precious
  rm "$F"
  ln -s "$T/target" "$F"
  try "$RLOCK" -k "$K" -- touch "$T/ran"
  is "$status" 78
  [[ ! -e $T/target ]]
  rm "$F"
  mkfifo "$F"
  try timeout 10 "$RLOCK" -k "$K" -- touch "$T/ran"
  is "$status" 78
  rm "$F"
  : >"$T/linked"
  ln "$T/linked" "$F"
  try "$RLOCK" -k "$K" -- touch "$T/ran"
  is "$status" 78
  is "$(stat -c %s "$T/linked")" 0
  rm "$F"
  mkdir "$F"
  try "$RLOCK" -k "$K" -- touch "$T/ran"
  [[ $status == 7[18] ]]
  [[ ! -e $T/ran ]]
}

@test "a record that was tampered with keeps nobody out, and lets nobody in" {
  "$RLOCK" -k "$K" --once 1h --min-hold 1h -- true
  perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, 4096, 0; print $f "\xff" x 2048;
    seek $f, 4096 + 8192 * 1024, 0; print $f "9" x 1024' "$F"
  "$RLOCK" -k "$K" --once 1h -n -- touch "$T/ran"
  [[ -e $T/ran ]]
  hold
  perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, 4096, 0; print $f "\0" x 1024' "$F"
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
}

@test "users meet in a folder that all can write to; nobody else's can" {
  needs_root
  local as=(setpriv --reuid 65534 --regid 65534 --clear-groups env)
  chmod 755 "$T" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/* 2>/dev/null || true
  mkdir -m 1777 "$D"
  cp "$RLOCK" "$T/rlock"
  (umask 077; "$RLOCK" -k "$K" -- true)
  try "${as[@]}" "$T/rlock" -u "local:$D" -k "$K" -n -- true
  is "$status" 0
  hold
  try "${as[@]}" "$T/rlock" -u "local:$D" -k "$K" -n -- true
  is "$status" 75
  let_go
  chmod 600 "$F"
  try "${as[@]}" "$T/rlock" -u "local:$D" -k "$K" -n -- true
  is "$status" 77
  [[ $output == *'Permission denied'* ]]
}

@test "local: is the same folder whatever the environment says" {
  needs_root
  "${UNSHARE[@]}" -m sh -c '
    mount -t tmpfs tmpfs /run/lock && "$RLOCK" -u local: -k "$K" -- true &&
      [ "$(stat -c "%a %F" /run/lock/rlock)" = "1777 directory" ] &&
      env -i TMPDIR=/nowhere HOME=/nowhere "$RLOCK" -u local: -k "$K" -- \
        "$RLOCK" -u local: -k other -- sh -c "ls /run/lock/rlock >$T/names"' ||
    { "${UNSHARE[@]}" -m true || skip 'no mounts can be made here'; false; }
  is "$(tr '\n' ' ' <"$T/names")" "lock:$K lock:other "
}

@test "local: a folder that is a trap is refused, not passed over" {
  needs_root
  "${UNSHARE[@]}" -m true || skip 'no mounts can be made here'
  try "${UNSHARE[@]}" -m sh -c '
    mount -t tmpfs tmpfs /run/lock && ln -s /tmp /run/lock/rlock &&
      exec "$RLOCK" -u local: -k "$K" -- touch "$T/ran"'
  is "$status" 69
  [[ $output == */run/lock/rlock*'symbolic link'* && ! -e $T/ran ]]
}

@test "local: without /run/lock the next place is used" {
  needs_root
  "${UNSHARE[@]}" -m true || skip 'no mounts can be made here'
  try "${UNSHARE[@]}" -m sh -c '
    mount -t tmpfs tmpfs /run && cp "$1" /run/rlock &&
      mount -t tmpfs tmpfs /tmp -o mode=1777 && /run/rlock -u local: -k "$2" -- ls /tmp/rlock' sh "$RLOCK" "$K"
  is "$status" 0
  is "$output" "lock:$K"
}

@test "a full disk: no lock, no command, 71; never a lock by half" {
  needs_root
  "${UNSHARE[@]}" -m true || skip 'no mounts can be made here'
  mkdir "$D"
  try "${UNSHARE[@]}" -m sh -c '
    mount -t tmpfs -o size=64k tmpfs "$D" || exit 99
    dd if=/dev/zero of="$D/fill" bs=4k 2>/dev/null
    exec "$RLOCK" -u "local:$D" -k "$K" -- touch "$T/ran"'
  [[ $status != 99 ]] || skip 'no mounts can be made here'
  is "$status" 71
  [[ $output == *'No space left'* && ! -e $T/ran ]]
}

@test "no watch is left in the system: who waits polls, and gets it" {
  hold
  bg env "$NO_LEAKS" strace -f -qq -o "$T/trace" -e trace=inotify_init1 -e inject=inotify_init1:error=EMFILE \
    "$RLOCK" -v -k "$K" -w 30 -- true 2>"$T/err"
  wait_line "$T/err" 'waiting: held by'
  grep -q 'INJECTED' "$T/trace"
  let_go
  ended "$PID"
  is "$status" 0
}

@test "no server is asked: nothing is connected to" {
  env "$NO_LEAKS" strace -f -e trace=connect,socket -o "$T/trace" "$RLOCK" -k "$K" -- true
  not grep -q 'AF_INET\|connect(' "$T/trace"
}

@test "make demo needs no server" {
  try bash "$BATS_TEST_DIRNAME/../demo.sh"
  is "$status" 0
  [[ $output == *'The lock is free.' ]]
}
