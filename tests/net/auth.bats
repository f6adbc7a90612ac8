#!/usr/bin/env bats
# Passwords and users: who is let in, what is refused, what is undone, and that
# no secret is ever shown.

load ../lib/net

setup_file() { redis_start --tcp; }
teardown_file() { redis_stop; }
setup() {
  net_setup
  AT=127.0.0.1:$REDIS_PORT
}
teardown() {
  net_teardown
  r config set requirepass '' >/dev/null
}

# The server asks for a password from now on; who is in stays in.
password() { r config set requirepass "$1" >/dev/null; }

# As r, when a password is asked for.
r() {
  if [[ ${PASSWORD:-} ]]; then
    REDISCLI_AUTH=$PASSWORD "$REDIS_CLI" -s "$REDIS_SOCK" "$@"
  else
    "$REDIS_CLI" -s "$REDIS_SOCK" "$@"
  fi
}

# protect PASSWORD: password, and r goes on working.
protect() {
  password "$1"
  PASSWORD=$1
}
unprotect() {
  r config set requirepass '' >/dev/null
  PASSWORD=
}

no_trace_anywhere() {
  local db
  for db in $(seq 0 15); do
    no_trace "$db"
  done
}

@test "no password given: 77, NOAUTH and what to do" {
  protect 's3cret'
  timed rl -u "redis://$AT" -w 5 -- touch "$T/ran"
  unprotect
  is 77 "$GOT"
  within 0 "$TOOK" 1000
  said err 'NOAUTH .*--password-file or REDISCLI_AUTH'
  is 1 "$(wc -l <"$T/err")"
  [ ! -e "$T/ran" ]
}

@test "wrong password, wrong user: 77 at once, and the password is not shown" {
  protect 's3cret'
  timed rl -u "redis://:wr0ngpw@$AT" -w 5 -- touch "$T/ran"
  is 77 "$GOT"
  within 0 "$TOOK" 1000
  said err WRONGPASS
  timed rl -u "redis://nobody:s3cret@$AT" -w 5 -- touch "$T/ran"
  unprotect
  is 77 "$GOT"
  said err WRONGPASS
  [ ! -e "$T/ran" ]
  unsaid 's3cret|wr0ngpw' "$T/err"
}

@test "the right password, every way of giving it" {
  local url way
  protect 's3cret'
  echo 's3cret' >"$T/pw"
  printf 's3cret\r\nnot this' >"$T/pw.crlf"
  printf 's3cret' >"$T/pw.bare"
  for url in "redis://:s3cret@$AT" "redis://default:s3cret@$AT" "redis://$AT?password=s3cret" \
    "redis://$AT/0?password=s3cret&user=default" "unix://:s3cret@$REDIS_SOCK" \
    "unix://$REDIS_SOCK?password=s3cret" "redis+unix://default:s3cret@$REDIS_SOCK?db=0"; do
    timed rl -n -u "$url" -- true
    is "$url 0" "$url $GOT"
    RLOCK_URL=$url timed rl -n -- true
    is "env $url 0" "env $url $GOT"
  done
  REDISCLI_AUTH=s3cret timed rl -n -u "redis://$AT" -- true
  is 0 "$GOT"
  for way in pw pw.crlf pw.bare; do
    timed rl -n -u "redis://$AT" --password-file "$T/$way" -- true
    is "$way 0" "$way $GOT"
  done
  # The file wins over the URL, the URL over the environment.
  REDISCLI_AUTH=no timed rl -n -u "redis://:nono@$AT" --password-file "$T/pw" -- true
  is 0 "$GOT"
  REDISCLI_AUTH=no timed rl -n -u "redis://:s3cret@$AT" -- true
  is 0 "$GOT"
  no_trace
  unprotect
}

@test "special characters: percent-encoded in the URL, as they are by file and environment" {
  local pw='p@s:/w#o?%r&d[] +é=~"x' url='p%40s%3A%2Fw%23o%3F%25r%26d%5B%5D%20+%C3%A9=~%22x'
  r acl setuser 'u:1@x' on ">$pw" '~*' '&*' +@all >/dev/null
  protect "$pw"
  timed rl -n -u "redis://:$url@$AT" -- true
  is 0 "$GOT"
  timed rl -n -u "redis://$AT?password=${url/=/%3D}" -- true
  is 0 "$GOT"
  timed rl -n -u "redis://u%3A1%40x:$url@$AT" -- true
  is 0 "$GOT"
  timed rl -n -u "unix://u%3A1%40x:$url@$REDIS_SOCK" -- true
  is 0 "$GOT"
  REDISCLI_AUTH=$pw timed rl -n -u "redis://u%3a1%40x@$AT" -- true
  is 0 "$GOT"
  printf '%s\n' "$pw" >"$T/pw"
  timed rl -n -u "redis://$AT" --password-file "$T/pw" -- true
  is 0 "$GOT"
  unprotect
  r acl deluser 'u:1@x' >/dev/null
}

@test "a password where none is needed: 77, and what the script did is undone in every database" {
  local url db
  for url in "redis://:pw@$AT" "redis://:pw@$AT/3" "redis://nobody:pw@$AT" \
    "redis://nobody:pw@$AT/5" "unix://:pw@$REDIS_SOCK?db=7"; do
    for option in '-w 5' -n; do
      # shellcheck disable=SC2086
      timed rl $option -u "$url" -t 60 -- touch "$T/ran"
      is "$url 77" "$url $GOT"
      within 0 "$TOOK" 1000
      no_trace_anywhere
    done
  done
  [ ! -e "$T/ran" ]
}

@test "wrong password where the default user needs none: the default user accepts it or it is 77; nothing is left" {
  # With nopass the default user takes any password: then it is let in.
  r acl setuser default nopass >/dev/null
  timed rl -n -u "redis://default:any@$AT" -- true
  [ "$GOT" -eq 0 ] || [ "$GOT" -eq 77 ]
  no_trace_anywhere
  r acl setuser jobs on '>right' '~*' '&*' +@all >/dev/null
  timed rl -n -u "redis://jobs:wrong@$AT/2" -t 60 -- touch "$T/ran"
  is 77 "$GOT"
  said err WRONGPASS
  no_trace_anywhere
  [ ! -e "$T/ran" ]
  r acl deluser jobs >/dev/null
}

@test "a database that is not there: 78, and what the script did in database 0 is undone" {
  for option in '-w 5' -n; do
    # shellcheck disable=SC2086
    timed rl $option -u "redis://$AT/99" -t 60 -- touch "$T/ran"
    is 78 "$GOT"
    within 0 "$TOOK" 1000
    said err 'DB index'
    no_trace_anywhere
  done
  [ ! -e "$T/ran" ]
}

@test "the undo leaves the locks and queues of others alone" {
  local value
  hold h -t 60
  begin b rl -t 60 -- touch "$T/b.ran"
  queued 1
  value=$(token)
  timed rl -u "redis://$AT/99" -t 60 -w 5 -- touch "$T/ran"
  is 78 "$GOT"
  timed rl -u "redis://nobody:pw@$AT" -t 60 -w 5 -- touch "$T/ran"
  is 77 "$GOT"
  is "$value" "$(token)"
  queued 1
  [ ! -e "$T/b.ran" ]
  finish h
  status "$PID_b"
  is 0 "$GOT"
  [ ! -e "$T/ran" ]
  no_trace
}

@test "databases are apart" {
  hold a -u "redis://$AT/3"
  is 0 "$(r exists "$L")"
  is 1 "$(r -n 3 exists "$L")"
  timed rl -n -u "redis://$AT" -- true
  is 0 "$GOT"
  timed rl -n -u "unix://$REDIS_SOCK?db=4" -- true
  is 0 "$GOT"
  timed rl -n -u "unix://$REDIS_SOCK?db=3" -- true
  is 75 "$GOT"
  begin b rl -u "redis://$AT?db=3" -- touch "$T/ran"
  wait_until 5 _queued_in 3
  finish a
  status "$PID_b"
  is 0 "$GOT"
  no_trace 0
  no_trace 3
}
_queued_in() { [[ $(r -n "$1" zcard "$Q") == 1 ]]; }

@test "the password is changed while the lock is held: the connection stays, the lock too" {
  hold a -t 1 -u "redis://$AT"
  protect newpw
  let_pass 1500
  is 1 "$(r exists "$L")"
  finish a 3
  status "$PID_a"
  is 3 "$GOT"
  unprotect
  no_trace
}

@test "the password is changed and the connection lost while held: tried again, stopped in time, 76" {
  begin a rl -t 1500ms -u "redis://$AT" -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  protect newpw
  r client kill type normal skipme yes >/dev/null
  status "$PID_a"
  is 76 "$GOT"
  within 500 "$(awk 'NR == 1 { first = $2 } END { printf "%d", ($2 - first) / 1000 }' "$T/log")" 1480
  unprotect
  wait_no_key "$L" 3
  no_trace
}

@test "the password is changed, the connection lost, and changed back in time: kept" {
  hold a -t 4 -u "redis://$AT"
  protect newpw
  r client kill type normal skipme yes >/dev/null
  let_pass 1500
  unprotect
  wait_until 3 _pttl_above 3500
  finish a
  status "$PID_a"
  is 0 "$GOT"
  no_trace
}
_pttl_above() { (($(r pttl "$L") > $1)); }

# The rights as the manual gives them, for the user jobs.
user_of_the_manual() {
  local line
  line=$(sed -n '/^redis-cli ACL SETUSER jobs/,/^\.Ed/p' "$RLOCK_TESTS/../man/rlock.1" |
    sed -e '/^\.Ed/d' -e 's/\\e$//' -e "s/'//g" | tr '\n' ' ')
  read -ra RIGHTS <<<"${line#*jobs }"
  r acl setuser jobs reset "${RIGHTS[@]}" "$@" >/dev/null
  r acl log reset >/dev/null
}

log_empty() {
  local log
  log=$(r acl log)
  [[ -z $log ]] || { echo "$log"; return 1; }
}

@test "the rights in the manual are enough for everything, and ACL LOG stays empty" {
  local url=redis://jobs:secret@$AT/2
  user_of_the_manual
  [ "${#RIGHTS[@]}" -gt 20 ]
  r() { "$REDIS_CLI" -s "$REDIS_SOCK" -n 2 "$@"; }
  # taken, renewed, busy, waited for in vain, polled for, left by a signal
  hold a -u "$url" -t 500ms
  timed rl -u "$url" -n -- true
  is 75 "$GOT"
  timed rl -u "$url" -w 0.3 -- true
  is 75 "$GOT"
  timed rl -u "$url" -r 2 -- true
  is 75 "$GOT"
  begin left rl -u "$url" -- true
  queued 1
  kill -TERM "$PID_left"
  status "$PID_left"
  is 143 "$GOT"
  queued 0
  # handed over, with one that died in line, and a look
  begin dead rl -u "$url" -- true
  queued 1
  begin b rl -u "$url" -- touch "$T/ran"
  queued 2
  kill -KILL "$PID_dead"
  let_pass 1200
  finish a
  status "$PID_a"
  is 0 "$GOT"
  status "$PID_b"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  # lost to another, gone, expired behind a foreign holder
  hold lost -u "$url" -t 500ms
  r set "$L" another px 300 >/dev/null
  status "$PID_lost"
  is 76 "$GOT"
  timed rl -u "$url" -w 5 -- true
  is 0 "$GOT"
  hold gone -u "$url" -t 30
  r del "$L" >/dev/null
  finish gone
  status "$PID_gone"
  is 76 "$GOT"
  r hset "$L" a b >/dev/null
  timed rl -u "$url" -n -- true
  is 78 "$GOT"
  r del "$L" >/dev/null
  log_empty
  no_trace 2
}

@test "with --prefix the rights change with it" {
  local url=redis://jobs:secret@$AT
  user_of_the_manual
  timed rl -u "$url" --prefix other: -n -- true
  is 77 "$GOT"
  user_of_the_manual '~other:*'
  hold a -u "$url" --prefix other:
  Q="rlock:queue:{other:$K}"
  begin b rl -u "$url" --prefix other: -- true
  queued 1
  finish a
  status "$PID_b"
  is 0 "$GOT"
  log_empty
  no_trace
}

@test "a right that is missing: 77 and where to look, and no key" {
  local right
  for right in -eval -set -exists; do
    user_of_the_manual "$right"
    timed rl -u "redis://jobs:secret@$AT" -w 5 -t 60 -- touch "$T/ran"
    is "$right 77" "$right $GOT"
    said err 'rights that are enough'
    no_trace
  done
  [ ! -e "$T/ran" ]
}

@test "no right to subscribe: one line, and the lock comes by polling" {
  user_of_the_manual -subscribe
  hold h
  begin a rl -u "redis://jobs:secret@$AT" -- touch "$T/ran"
  wait_line "$T/a.err" 'polling'
  finish h
  status "$PID_a"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  is 1 "$(wc -l <"$T/a.err")"
  no_trace
}

@test "no channel: one line, and the lock comes by polling" {
  user_of_the_manual resetchannels
  hold h
  begin a rl -u "redis://jobs:secret@$AT" -- touch "$T/ran"
  wait_line "$T/a.err" 'polling'
  finish h
  status "$PID_a"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  no_trace
}

# A run under way never shows PASSWORD to others.
secret_run() {
  local name=$1
  shift
  hold "$name" -v -v --report "$T/$name.report" "$@"
  for pid in "$PID" $(pgrep -P "$PID"); do
    tr '\0' ' ' <"/proc/$pid/cmdline" >>"$T/$name.cmdline"
  done
  r get "$L" >>"$T/$name.value"
  r client list >>"$T/$name.clients"
  timed rl -n -v -v "$@" -- true # busy
  is 75 "$GOT"
  cat "$T/err" >>"$T/$name.busy"
  finish "$name"
  status "$PID"
  is 0 "$GOT"
  [ -s "$T/$name.report" ]
  unsaid 's3cr|%73' "$T/$name".*
}

@test "secrets: not in the process list, the messages, the report, the token" {
  protect 's3cr+t'
  echo 's3cr+t' >"$T/pw"
  secret_run url -u "redis://:s3cr+t@$AT"
  secret_run user -u "redis://default:s3cr+t@$AT"
  secret_run query -u "unix://$REDIS_SOCK?password=s3cr+t"
  secret_run encoded -u "redis://:%73%33cr+t@$AT"
  secret_run long --url="redis://:s3cr+t@$AT"
  secret_run joined "-uredis://:s3cr+t@$AT"
  secret_run file -u "redis://$AT" --password-file "$T/pw"
  RLOCK_URL=redis://:s3cr+t@$AT secret_run envurl
  RLOCK_URL=redis://$AT REDISCLI_AUTH=s3cr+t secret_run envpw
  unprotect
}

@test "secrets: not in error messages" {
  local url
  dead=redis://u:s3cr+t@127.0.0.1:1
  timed rl -n -v -v -u "$dead" --report "$T/rep" -- true
  is 69 "$GOT"
  unsaid s3cr "$T/err" "$T/rep"
  protect pw
  timed rl -n -v -v -u "redis://u:s3cr+t@$AT/3" --report "$T/rep" -- true
  is 77 "$GOT"
  unsaid s3cr "$T/err" "$T/rep"
  for url in "redis://u:s3cr#t@$AT" "redis://u:s3cr%t@$AT" "redis://u:s3cr t@$AT" \
    "redis://u:s3cr@t@$AT" "redis://u:s3cr/t@$AT" "redis://u:s3cr+t@$AT/x" \
    "redis://u:s3cr+t@$AT?nono=1" "redis://u:s3cr+t@127.0.0.1:99999" \
    "nono://u:s3cr+t@$AT" "redis://u:s3cr+t@::1:7001" "unix://u:s3cr+t@rel" \
    "redis://u:s3cr+t@$AT?password=s3cr" "rediss://u:s3cr+t@$AT/x" \
    "sentinel://u:s3cr+t@$AT/" "sentinel://$AT/m?sentinel-password=s3cr&x=1"; do
    timed rl -n -v -v -u "$url" -- true
    is "$url 64" "$url $GOT"
    unsaid s3cr "$T/err"
    RLOCK_URL=$url timed rl -n -v -v -- true
    is "$url 64" "$url $GOT"
    unsaid s3cr "$T/err"
  done
  unprotect
  for url in "rediss://u:s3cr+t@$AT" "sentinel://u:s3cr+t@$AT/m?sentinel-password=s3cr"; do
    timed rl -v -u "$url" --connect-timeout 0.4 -- true
    is "$url 69" "$url $GOT"
    unsaid s3cr "$T/err"
  done
}

@test "what -u and --password-file say is not handed to the command" {
  protect 's3cr+t'
  echo 's3cr+t' >"$T/pw"
  timed env -u RLOCK_URL "$RLOCK" -k "$K" -u "redis://:s3cr+t@$AT" -- env
  is 0 "$GOT"
  unsaid s3cr "$T/out"
  timed env -u RLOCK_URL "$RLOCK" -k "$K" -u "redis://$AT" --password-file "$T/pw" -- env
  is 0 "$GOT"
  unsaid 's3cr|^RLOCK_URL|^REDISCLI_AUTH' "$T/out"
  unprotect
}
