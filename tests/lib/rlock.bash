# shellcheck shell=bash
# What is set here is read by the tests; the shells within expand for themselves.
# shellcheck disable=SC2016,SC2034
# rlock.bash: what the tests of the command and of the lock share.
#
#   load ../lib/rlock       (it loads redis.bash, which loads wait.bash)
#   setup_file()    { redis_start; }
#   teardown_file() { redis_stop; }
#   setup()         { rlock_setup; }
#   teardown()      { rlock_teardown; }
#
# A test finds K (a key of its own), L (the key on the server), Q (its queue)
# and T (a folder of its own).

# shellcheck source=tests/lib/redis.bash
source "${BASH_SOURCE[0]%/*}/redis.bash"

rlock_setup() {
  K=k$BATS_TEST_NUMBER
  L=lock:$K
  Q="rlock:queue:{$L}"
  T=$BATS_TEST_TMPDIR
  STARTED=()
  export K L Q T
  export SH_HOLD='echo $$ >"$0"; exec sleep 30'
}

# What bg has started, and is still there, ends; the guard ends its command.
rlock_teardown() {
  local pid
  for pid in ${STARTED[@]+"${STARTED[@]}"}; do
    _wait_ended "$pid" || kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true # so that the shell does not tell of it
  done
}

# bg COMMAND...: in the background, with PID set to its process.  bats and the
# shell give a background process INT and QUIT ignored: not here.  Descriptor 3
# is bats' own, which would wait for its end.
bg() {
  env --default-signal=INT,QUIT "$@" 3>&- &
  PID=$!
  STARTED+=("$PID")
}

# hold [RLOCK OPTIONS...]: hold the lock K; sets HOLDER (rlock) and CMD (the
# command, a sleep of 30 s), which is running when hold returns.
hold() {
  rm -f "$T/hold.pid"
  bg "$RLOCK" -k "$K" "$@" -- sh -c "$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/hold.pid")
}

# let_go: end what hold has started, and wait for its end.
let_go() {
  kill -TERM "$HOLDER"
  ended "$HOLDER"
}

# ended PID [SECONDS]: wait for its end; sets status.
ended() {
  wait_gone "$1" "${2:-10}" || return 1
  status=0
  wait "$1" || status=$?
}

# try COMMAND...: as bats' run, without its warnings about a 127; sets status,
# output and lines.
try() {
  status=0
  output=$("$@" 2>&1) || status=$?
  lines=()
  [[ -z $output ]] || mapfile -t lines <<<"$output"
}

# is GOT WANTED: compare, and say so when they differ.
is() {
  [[ $1 == "$2" ]] || { printf 'got %q, wanted %q\n' "$1" "$2" >&2; return 1; }
}

# between LOW NUMBER HIGH
between() {
  (($1 <= $2 && $2 <= $3)) || { echo "got $2, wanted $1 to $3" >&2; return 1; }
}

# no_key [KEY]: not there, now.
no_key() { is "$(r exists "${1:-$L}")" 0; }

# is_key [KEY]: there, now.
is_key() { is "$(r exists "${1:-$L}")" 1; }

# wait_waiters N: until so many stand in the queue of K.
wait_waiters() { wait_until "$WAIT_BOUND" _waiters "$1"; }

_waiters() { [[ $(r zcard "$Q") == "$1" ]]; }

# pass_ms MS: let so much time pass, where the fact is that nothing happens.
pass_ms() {
  local until_ms=$(($(now_ms) + $1))
  wait_until 20 _past "$until_ms"
}

_past() { (($(now_ms) >= $1)); }

alive() { ! _wait_ended "$1"; }

# not COMMAND...: fails when COMMAND succeeds (a bare "!" fails no test).
not() { ! "$@"; }

# fds PID: what its descriptors are, one a line.
fds() { find "/proc/$1/fd" -type l -printf '%f %l\n' | sort -n; }

# group_gone PGID: no process of the group is left (a zombie is none).
group_gone() {
  ! ps -eo pgid=,stat= | awk -v g="$1" '$1 == g && $2 !~ /^[ZX]/ { n = 1 }
    END { exit !n }'
}

# guard_of PID: prints the process id of the guard of that rlock.
guard_of() { pgrep -P "$1" -x rlock-guard; }

# fact FILE NAME: a member of the report, null as an empty text.
fact() {
  perl -MJSON::PP -e '
    local $/; open my $f, "<", $ARGV[0] or die "$ARGV[0]: $!\n";
    my $v = decode_json(<$f>)->{$ARGV[1]}; binmode STDOUT, ":utf8";
    print $v if defined $v; print "\n"' "$1" "$2"
}

# lines FILE: how many lines it has.
lines() { grep -c '' "$1" || true; }
