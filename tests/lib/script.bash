# shellcheck shell=bash
# script.bash: the Lua scripts on a server, with the very bytes that the build
# embeds.  For tests/script; load it instead of redis.bash.
#
#   load ../lib/script
#   setup_file()    { redis_start; scripts_get; }
#   teardown_file() { redis_stop; }
#   setup()         { fresh; }
#   teardown()      { ears_off; }
#
# fresh gives each test a lock of its own: L, Q (queue), H (holds), D (done), F
# (fence).  Replies are
# printed as one line, the elements separated by blanks; nil is an empty one.

# shellcheck source=tests/lib/redis.bash
source "${BASH_SOURCE[0]%/*}/redis.bash"

# scripts_get: write the bytes of each script to $SCRIPTS/NAME, by a program
# that is linked with what the build made of src/lua.
scripts_get() {
  local name
  export SCRIPTS=$REDIS_DIR/scripts
  mkdir -p "$SCRIPTS" || return 1
  {
    echo '#include <stdio.h>'
    echo '#include "core/script.h"'
    echo 'static int put(const char *name, const char *text) {'
    echo '  FILE *f = fopen(name, "w");'
    echo '  return f == NULL || fputs(text, f) < 0 || fclose(f) != 0; }'
    echo 'int main(void) { return 0'
    for name in take free renew acquire release extend leave break status; do
      echo "|| put(\"$name\", script_$name)"
    done
    echo '; }'
  } >"$SCRIPTS/put.c"
  "${CC:-cc}" -I"${BASH_SOURCE[0]%/*}/../../src" -o "$SCRIPTS/put" \
    "$SCRIPTS/put.c" "${RLOCK_BUILD:?}/script_data.c" || return 1
  (cd "$SCRIPTS" && ./put)
}

# fresh: a lock of its own for this test, and three tokens.
# shellcheck disable=SC2034
fresh() {
  names "t${BATS_TEST_NUMBER:-0}"
  A=$(token 1) B=$(token 2) C=$(token 3)
}

# again N: another lock for this test, and other tokens: in a loop.
# shellcheck disable=SC2034
again() {
  names "t${BATS_TEST_NUMBER:-0}-$1"
  A=$(token $((10 * $1 + 1))) B=$(token $((10 * $1 + 2)))
  C=$(token $((10 * $1 + 3))) W=$(token $((10 * $1 + 9)))
}

# names KEY: set L, Q, H to the names of this lock.
names() {
  L=lock:$1
  Q="rlock:queue:{$L}"
  H="rlock:holds:{$L}"
  D="rlock:done:{$L}"
  F="rlock:fence:{$L}"
}

# token N: a token; the test's number is in it, so no two tests share a channel.
token() {
  printf 'rlock:1:%032x:host:user:%d:0:' \
    $((${BATS_TEST_NUMBER:-0} * 1000000 + $1)) "$1"
}

# channel TOKEN: the channel of a waiter.
channel() { echo "rlock:${1:8:32}"; }

# entry TOKEN [TTL]: its member of the queue, for the kind KIND (x0) and --once
# ONCE (0).
entry() { echo "${KIND:-x0}:${2:-10000}:${ONCE:-0}:$1"; }

# line: standard input as one line.
line() {
  local lines
  mapfile -t lines
  echo "${lines[*]}"
}

# rc ARGUMENTS...: redis-cli as the test wants it (CLI), else as r.
rc() {
  if [[ ${CLI[*]:-} ]]; then "${CLI[@]}" "$@"; else r "$@"; fi
}

# s NAME [ARGV...]: run script NAME on all keys it takes.
s() {
  local name=$1 text keys=("$L" "$Q" "$H" "$D" "$F")
  shift
  IFS= read -r -d '' text <"$SCRIPTS/$name" || true
  case $name in
  renew) keys=("$L") ;;
  extend) keys=("$L" "$H") ;;
  leave) keys=("$L" "$Q") ;;
  take | free) keys=("$L" "$Q" "$H") ;;
  esac
  rc eval "$text" "${#keys[@]}" "${keys[@]}" "$@" 2>&1 | line
}

# The usual arguments: TOKEN [TTL]; join TOKEN [TTL [TICKET]].  What is not said
# so often is in variables: KIND and ONCE (see entry), SLOT as held (?), ABOVE,
# FENCE; COOL, DONE, RAN of a release.
take() { s take "$1" "${2:-10000}"; }
ask() { acquire_as 0 "$@"; }
join() { acquire_as 1 "$@"; }
acquire_as() {
  s acquire "$(entry "$2" "${3:-10000}")" "$1" "${4:-0}" "${SLOT:-?}" \
    "${ABOVE:-}" "${FENCE:-0}"
}
renew() { s renew "$1" "${2:-10000}"; }
extend() { s extend "$1" "${2:-10000}" "${SLOT:-?}"; }
free() { s free "$1"; }
release() {
  s release "$(entry "$1" "${2:-10000}")" "${SLOT:-?}" "${COOL:-0}" "${DONE:-0}" \
    "${RAN:-0}"
}

# queue: who is in the queue, in order, as the number in the token.
queue() {
  r zrange "$Q" 0 -1 | sed 's/.*:user:\([0-9]*\):.*/\1/' | line
}

# is WHAT IT IS: compare, and say so.
is() {
  [[ $1 == "$2" ]] || { echo "got '$1', not '$2'"; return 1; }
}

# like TEXT PATTERN: TEXT matches the glob PATTERN.
like() {
  # shellcheck disable=SC2053
  [[ $1 == $2 ]] || { echo "got '$1', which is not like '$2'"; return 1; }
}

# between LOW TEXT HIGH: a number, and in between.
between() {
  if ! [[ $2 =~ ^-?[0-9]+$ ]] || (($2 < $1 || $2 > $3)); then
    echo "got '$2', not $1 to $3"
    return 1
  fi
}

# ttls: every key of this lock has an expiry.
ttls() {
  local key ttl
  for key in "$L" "$Q" "$H" "$D" "$F"; do
    ttl=$(r pttl "$key")
    ((ttl != -1)) || { echo "$key: PTTL -1"; return 1; }
  done
}

# hear TOKEN: be subscribed to its channel; heard TOKEN prints the messages.
hear() {
  local file
  file=$REDIS_DIR/$(channel "$1")
  r subscribe "$(channel "$1")" >"$file" 2>&1 </dev/null 3>&- &
  EARS+=($!)
  wait_until 5 _hears "$1" "$file"
}

_hears() { [[ $(r pubsub numsub "$(channel "$1")" | tail -1) == 1 && -s $2 ]]; }

heard() { # each message is three lines; the first one is the subscription
  awk 'NR > 3 && NR % 3 == 0' "$REDIS_DIR/$(channel "$1")" | line
}

_heard_is() { [[ $(heard "$1") == "$2" ]]; }

# hears TOKEN MESSAGES: wait until just these have been heard.
hears() {
  wait_until 5 _heard_is "$@" || { heard "$1"; return 1; }
}

# hears_like TOKEN PATTERN: wait until what has been heard is like PATTERN.
hears_like() {
  wait_until 5 _heard_like "$@" || { heard "$1"; return 1; }
}

_heard_like() { like "$(heard "$1")" "$2"; }

# ears_off: end all subscribers of this test.
ears_off() {
  local pid
  for pid in ${EARS[@]+"${EARS[@]}"}; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  EARS=()
}
