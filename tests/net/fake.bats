#!/usr/bin/env bats
# rlock against servers that misbehave (tests/progs/fakeserver.py).
#
# A test is a table: NAME | STATUS | RAN | OPTIONS | RULES.  Each row is a run
# of its own, all of a table at the same time.  Whatever the server does: the
# status is as said, the command has run (RAN is 1) or not (0), rlock has said
# nothing of a crash, and it was over in time.

load ../lib/wait

CONNECT_MS=300
COMMAND_MS=300

setup() {
  DIR=$(mktemp -d /tmp/rlock.XXXXXX)
  SLACK_MS=1000
  [[ ${RLOCK_SANITIZE:-} ]] && SLACK_MS=2000
  return 0
}

teardown() {
  if [[ ${SERVER_PID:-} ]]; then
    kill "$SERVER_PID" 2>/dev/null || true
    wait "$SERVER_PID" 2>/dev/null || true
  fi
  rm -rf "$DIR"
}

# table: run the rows on standard input.
table() {
  local name status ran options rules rows=() jobs=() job bad=0
  while IFS='|' read -r name status ran options rules; do
    name=${name// /}
    [[ -z $name || $name == \#* ]] && continue
    echo "$name $rules" >>"$DIR/cases"
    rows+=("$name|${status// /}|${ran// /}|$options")
  done
  python3 "$BATS_TEST_DIRNAME/../progs/fakeserver.py" "$DIR" "$DIR/cases" \
    >"$DIR/server.out" 2>&1 </dev/null 3>&- &
  SERVER_PID=$!
  wait_file "$DIR/ready" || { cat "$DIR/server.out"; return 1; }
  for job in "${rows[@]}"; do
    IFS='|' read -r name status ran options <<<"$job"
    run_row "$name" "$options" 3>&- &
    jobs+=($!)
  done
  wait "${jobs[@]}"
  for job in "${rows[@]}"; do
    IFS='|' read -r name status ran options <<<"$job"
    check_row "$name" "$status" "$ran" || bad=1
  done
  return "$bad"
}

# run_row NAME OPTIONS: rlock against server NAME.  The command of a row takes
# no time, unless OPTIONS end in "-- SECONDS".
run_row() {
  local name=$1 options hold=0 status=0 start
  [[ $2 == *'-- '* ]] && hold=${2##*-- }
  read -ra options <<<"${2%%-- *}"
  start=$(now_ms)
  timeout -s KILL 8 "$RLOCK" -u "unix://$DIR/$name.sock" -k fake \
    --connect-timeout ${CONNECT_MS}ms --command-timeout ${COMMAND_MS}ms \
    "${options[@]}" -- sh -c "echo ran >>'$DIR/$name.ran'; exec sleep ${hold// /}" \
    </dev/null >"$DIR/$name.out" 2>"$DIR/$name.err" || status=$?
  echo "$status $(($(now_ms) - start))" >"$DIR/$name.status"
}

check_row() { # NAME STATUS RAN
  local name=$1 status ms ran=0
  read -r status ms <"$DIR/$name.status"
  [[ -e $DIR/$name.ran ]] && ran=$(wc -l <"$DIR/$name.ran")
  if [[ $status != "$2" || $ran != "$3" || -s $DIR/$name.out ]] ||
    grep -q 'Sanitizer\|runtime error\|assert' "$DIR/$name.err" ||
    ((ms > CONNECT_MS + COMMAND_MS + SLACK_MS + ${HELD_MS:-0})); then
    echo "$name: status $status (want $2), ran $ran (want $3), $ms ms"
    cat "$DIR/$name.err" "$DIR/$name.out"
    sed 's/^/  got: /' "$DIR/$name.log" | head -20
    return 1
  fi
}

@test "a server that behaves: the command runs" {
  table <<'ROWS'
free      | 0 | 1 | -n |
waits     | 0 | 1 | -w 5s | take=held acquire=held|ok
slow      | 0 | 1 | -n | take=slow:ok client=slow:ok free=slow:ok
slowwait  | 0 | 1 | -w 5s | take=slow:held multi=slow:ok queued=slow:ok subscribe=slow:ok acquire=slow:ok
busy      | 75 | 0 | -n | take=held
busywait  | 75 | 0 | -w 200ms | take=held acquire=held
ROWS
}

@test "errors to the first script: 77, 78 or, tried again, 69" {
  table <<'ROWS'
noauth    | 77 | 0 | | eval=-NOAUTH~Authentication~required.
noauth-n  | 77 | 0 | -n | eval=-NOAUTH~Authentication~required.
noperm    | 77 | 0 | | eval=-NOPERM~this~user~has~no~permissions~to~run~the~'eval'~command
acl7      | 77 | 0 | | eval=-ERR~The~user~executing~the~script~can't~run~this~command~or~subcommand~script:~0af3,~on~@user_script:1.
acl8      | 77 | 0 | | eval=-ERR~ACL~failure~in~script:~User~jobs~has~no~permissions~to~run~the~'set'~command~script:~0af3,~on~@user_script:1.
readonly  | 78 | 0 | | eval=-READONLY~You~can't~write~against~a~read~only~replica.
ro6       | 78 | 0 | | eval=-ERR~Error~running~script~(call~to~f_0af3):~@user_script:1:~-READONLY~You~can't~write~against~a~read~only~replica.
oom       | 78 | 0 | | eval=-OOM~command~not~allowed~when~used~memory~>~'maxmemory'.
misconf   | 78 | 0 | | eval=-MISCONF~Redis~is~configured~to~save~RDB~snapshots
wrongtype | 78 | 0 | | eval=-WRONGTYPE~Operation~against~a~key~holding~the~wrong~kind~of~value
moved     | 78 | 0 | | eval=-MOVED~3999~127.0.0.1:6381
old       | 78 | 0 | | eval=-ERR~unknown~command~`EVAL`,~with~args~beginning~with:
old-n     | 78 | 0 | -n | eval=-ERR~unknown~command~'EVAL'
syntax    | 78 | 0 | | eval=-ERR~syntax~error
noword    | 78 | 0 | | eval=-
odd       | 78 | 0 | | eval=-ERR~\x1b[31mred\x07
loading   | 69 | 0 | | eval=-LOADING~Redis~is~loading~the~dataset~in~memory
loading-n | 69 | 0 | -n | eval=-LOADING~Redis~is~loading~the~dataset~in~memory
busyscr   | 69 | 0 | | eval=-BUSY~Redis~is~busy~running~a~script.
mdown     | 69 | 0 | | eval=-MASTERDOWN~Link~with~MASTER~is~down
cdown     | 69 | 0 | | eval=-CLUSTERDOWN~The~cluster~is~down
tryagain  | 69 | 0 | | eval=-TRYAGAIN~Multiple~keys~request~during~rehashing~of~slot
ROWS
}

@test "not ready first, then fine: the command runs" {
  table <<'ROWS'
loading   | 0 | 1 | -w 5s | take=-LOADING~Redis~is~loading|ok acquire=-LOADING~x|-LOADING~x|ok
busyscr   | 0 | 1 | -w 5s | take=-BUSY~Redis~is~busy~running~a~script.|ok acquire=-BUSY~x|ok
mdown     | 0 | 1 | -w 5s | take=-MASTERDOWN~Link~with~MASTER~is~down|ok
tryagain  | 0 | 1 | -w 5s | take=-TRYAGAIN~x|ok
closed    | 0 | 1 | -w 5s | accept=close|close|<
maxclient | 0 | 1 | -w 5s | accept=-ERR~max~number~of~clients~reached&close|<
silent    | 0 | 1 | -w 5s | take=nothing|ok
cut       | 0 | 1 | -w 5s | take=cut:ok|ok
garbage   | 0 | 1 | -w 5s | take=<HTTP/1.1~400~Bad~Request\r\n\r\n|ok
queuebusy | 0 | 1 | -w 5s | take=held acquire=held|-LOADING~x|ok
queuero   | 0 | 1 | -w 5s | take=held acquire={1,foreign,-1,0,17}|-READONLY~x|ok
queuegone | 0 | 1 | -w 5s | take=held acquire={1,foreign,-1,0,17}|close|ok
ROWS
}

@test "closed, silent, or no Redis at all: 69, in time" {
  table <<'ROWS'
close     | 69 | 0 | | accept=close
close-n   | 69 | 0 | -n | accept=close
never     | 69 | 0 | | client=nothing
never-n   | 69 | 0 | -n | client=nothing
noanswer  | 69 | 0 | | take=nothing acquire=nothing
noansw-n  | 69 | 0 | -n | take=nothing release=nothing
maxclient | 69 | 0 | | accept=-ERR~max~number~of~clients~reached&close
maxcli-n  | 69 | 0 | -n | accept=-ERR~max~number~of~clients~reached&close
tls       | 69 | 0 | | accept=<\x15\x03\x01\x00\x02\x02\x46&close
tls-n     | 69 | 0 | -n | accept=<\x15\x03\x03\x00\x02\x02\x28
http      | 69 | 0 | | client=<HTTP/1.1~400~Bad~Request\r\n\r\n&close
ssh       | 69 | 0 | -n | accept=<SSH-2.0-OpenSSH_9.2\r\n
zeros     | 69 | 0 | -n | accept=<\x00\x00\x00\x00\x00\x00\x00\x00
cut       | 69 | 0 | -n | take=cut:ok release=close
half      | 69 | 0 | -n | take=half:ok
cut-err   | 69 | 0 | -n | take=<-READONLY~You&close
endless   | 69 | 0 | -n | take=endless
biglen    | 69 | 0 | -n | take=$400000000
bigcount  | 69 | 0 | -n | take=*10000000
badlen    | 69 | 0 | -n | take=$x
badcount  | 69 | 0 | -n | take=*x
badtype   | 69 | 0 | -n | take=<?what\r\n
hugelen   | 69 | 0 | -n | take=$99999999999999999999
hugecount | 69 | 0 | -n | take=*4294967297
deep      | 69 | 0 | -n | take=<*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n
ROWS
}

@test "refused at the door: 77" {
  # The server may have closed before we write: its word is there all the same.
  table <<'ROWS'
denied    | 77 | 0 | | accept=-DENIED~Redis~is~running~in~protected~mode&close
denied-n1 | 77 | 0 | -n | accept=-DENIED~Redis~is~running~in~protected~mode&close
denied-n2 | 77 | 0 | -n | accept=-DENIED~Redis~is~running~in~protected~mode&close
denied-n3 | 77 | 0 | -n | accept=-DENIED~Redis~is~running~in~protected~mode&close
denied-n4 | 77 | 0 | -n | accept=-DENIED~Redis~is~running~in~protected~mode&close
denied-n5 | 77 | 0 | -n | accept=-DENIED~Redis~is~running~in~protected~mode&close
ROWS
}

@test "answers that make no sense: 78, and the command does not run" {
  table <<'ROWS'
nil       | 78 | 0 | | take=$-1
nilarray  | 78 | 0 | | take=*-1
empty     | 78 | 0 | | take=*0
status    | 78 | 0 | | take=+OK
integer   | 78 | 0 | | take=:0
string    | 78 | 0 | | take=<$1\r\n0\r\n
nested    | 78 | 0 | | take=<*1\r\n*1\r\n:0\r\n
nilfirst  | 78 | 0 | | take=<*1\r\n$-1\r\n
code      | 78 | 0 | | take={5}
minus     | 78 | 0 | | take={-1}
bigcode   | 78 | 0 | | take=<*1\r\n:4294967296\r\n
gone      | 78 | 0 | | take=gone
huge      | 78 | 0 | | take=huge:20000000
hugeerr   | 78 | 0 | -n | take=<*1\r\n-ERR~inner\r\n
misfit    | 78 | 0 | | take=full acquire={78,lock:fake}
misfit2   | 78 | 0 | -n | take=full acquire={78}
acqnil    | 78 | 0 | -w 5s | take=held acquire=$-1
acqgone   | 78 | 0 | -w 5s | take=held acquire=gone
acqtext   | 78 | 0 | -w 5s | take=held acquire=+OK
ROWS
}

@test "an answer that is right in form only never hangs it" {
  table <<'ROWS'
acqfull   | 78 | 0 | -w 5s | take=full acquire=full
acqfull-n | 78 | 0 | -n | take=full acquire=full
late-n    | 69 | 0 | -n -t 100ms | take=late:150:ok acquire=late:150:ok
late      | 69 | 0 | -t 100ms | take=late:150:ok acquire=late:150:ok
ROWS
}

@test "login: what fails there decides, whatever the script says" {
  # The URL has no password: the server is told to refuse what is sent first.
  table <<'ROWS'
oldclient | 0 | 1 | -n | client=-ERR~unknown~command~'CLIENT'
noclient  | 0 | 1 | -n | client=-NOPERM~this~user~has~no~permissions~to~run~the~'client.setname'~command
oldwaits  | 0 | 1 | -w 5s | client=-ERR~unknown~command~'CLIENT' take=held acquire=held|ok
clientnil | 0 | 1 | -n | client=$-1
ROWS
  local status=0
  "$RLOCK" -u "unix://:pw@$DIR/oldclient.sock" -k fake -n -- true || status=$?
  [[ $status == 0 ]]
}

@test "login refused: 77 or 78, and the script's lock is undone" {
  printf '%s\n' \
    'wrong auth=-WRONGPASS~invalid~username-password~pair' \
    'none auth=-ERR~AUTH~<password>~called~without~any~password~configured' \
    'old auth=-ERR~Client~sent~AUTH,~but~no~password~is~set' \
    'select select=-ERR~DB~index~is~out~of~range' \
    'selrights select=-NOPERM~this~user~has~no~permissions' \
    'loading auth=-LOADING~x' \
    >"$DIR/cases"
  python3 "$BATS_TEST_DIRNAME/../progs/fakeserver.py" "$DIR" "$DIR/cases" \
    </dev/null >"$DIR/server.out" 2>&1 3>&- &
  SERVER_PID=$!
  wait_file "$DIR/ready"
  for row in wrong:77 none:77 old:77 select:78 selrights:77 loading:69; do
    local name=${row%:*} status=0
    "$RLOCK" -u "unix://:pw@$DIR/$name.sock?db=2" -k fake \
      --connect-timeout 300ms --command-timeout 300ms -- \
      touch "$DIR/$name.ran" 2>"$DIR/$name.err" || status=$?
    echo "$name: $status"
    cat "$DIR/$name.err"
    [[ $status == "${row#*:}" && ! -e $DIR/$name.ran ]]
    # Undone on the same connection, behind the script.
    wait_line "$DIR/$name.log" '^EVAL release'
  done
}

@test "the queue's step: MULTI, SUBSCRIBE or EXEC refused" {
  table <<'ROWS'
multi     | 78 | 0 | -w 2s | take=held multi=-ERR~unknown~command~'MULTI' exec=-ERR~EXEC~without~MULTI
multiacl  | 77 | 0 | -w 2s | take=held multi=-NOPERM~this~user~has~no~permissions~to~run~the~'multi'~command exec=-ERR~EXEC~without~MULTI
queuedoom | 78 | 0 | -w 2s | take=held queued=-OOM~command~not~allowed exec=-EXECABORT~Transaction~discarded~because~of~previous~errors.
queuedacl | 77 | 0 | -w 2s | take=held queued=-NOPERM~eval exec=-EXECABORT~Transaction~discarded~because~of~previous~errors.
execabort | 78 | 0 | -w 2s | take=held exec=-EXECABORT~Transaction~discarded~because~of~previous~errors.
execacl   | 77 | 0 | -w 2s | take=held exec=-EXECABORT~Transaction~discarded~because~of:~NOPERM~this~user~has~no~permissions~to~run~the~'exec'~command
execro    | 78 | 0 | -w 2s | take=held exec=-EXECABORT~Transaction~discarded~because~of:~READONLY~You~can't~write
execnil   | 78 | 0 | -w 2s | take=held exec=*-1
execnil2  | 78 | 0 | -w 2s | take=held exec=$-1
execempty | 78 | 0 | -w 2s | take=held exec=*0
execerr   | 78 | 0 | -w 2s | take=held acquire=-OOM~command~not~allowed
execone   | 0 | 1 | -w 2s | take=held exec=<*1\r\n*2\r\n:0\r\n:0\r\n
subacl    | 0 | 1 | -w 2s | take=held subscribe=-NOPERM~this~user~has~no~permissions~to~access~one~of~the~channels exec=-EXECABORT~Transaction~discarded~because~of~previous~errors. acquire=held|ok
subacl2   | 0 | 1 | -w 2s | take=held exec=<*2\r\n*5\r\n:1\r\n$1\r\nx\r\n:-1\r\n:0\r\n$1\r\n1\r\n-NOPERM~channel\r\n acquire=ok
subold    | 78 | 0 | -w 2s | take=held subscribe=-ERR~unknown~command~'SUBSCRIBE' exec=-EXECABORT~x
execsilent| 75 | 0 | -w 700ms | take=held exec=nothing
execclose | 75 | 0 | -w 700ms | take=held exec=close
ROWS
}

@test "messages behind the subscription: granted, look, first, garbage" {
  # The message rides behind the step's reply.
  # shellcheck disable=SC2016
  local step='<*2\r\n*5\r\n:1\r\n$1\r\nx\r\n:60000\r\n:0\r\n$2\r\n17\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n'
  # shellcheck disable=SC2016
  local say='*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n'
  table <<ROWS
grant     | 0 | 1 | -w 900ms | take=held exec=$step$say\$5\r\ngrant\r\n acquire=ok
look      | 0 | 1 | -w 900ms | take=held exec=$step$say\$4\r\nlook\r\n|<*2\r\n*2\r\n:0\r\n:0\r\n+x\r\n
first     | 0 | 1 | -w 900ms | take=held exec=$step$say\$7\r\nfirst:5\r\n|<*2\r\n*2\r\n:0\r\n:0\r\n+x\r\n
firstbad  | 0 | 1 | -w 3s | take=held exec=$step$say\$9\r\nfirst:abc\r\n|<*2\r\n*2\r\n:0\r\n:0\r\n+x\r\n
firstbig  | 75 | 0 | -w 900ms | take=held exec=$step$say\$25\r\nfirst:9223372036854775807\r\n acquire=ok
empty     | 0 | 1 | -w 900ms | take=held exec=$step$say\$0\r\n\r\n|<*2\r\n*2\r\n:0\r\n:0\r\n+x\r\n
grantheld | 75 | 0 | -w 500ms | take=held exec=$step$say\$5\r\ngrant\r\n|$step acquire=held
pmessage  | 75 | 0 | -w 500ms | take=held exec=${step}*4\r\n\$8\r\npmessage\r\n\$1\r\nx\r\n\$1\r\nx\r\n\$5\r\ngrant\r\n acquire=ok
ROWS
}

@test "held: no error of a renewal ends the run, an answer of loss does" {
  HELD_MS=1500
  table <<'ROWS'
oom       | 0 | 1 | -n -t 600ms -- 0.7 | renew=-OOM~command~not~allowed|ok
loading   | 0 | 1 | -n -t 600ms -- 0.7 | renew=-LOADING~x|ok
noperm    | 0 | 1 | -n -t 600ms -- 0.7 | renew=-NOPERM~x|ok
readonly  | 0 | 1 | -n -t 600ms -- 0.7 | renew=-READONLY~x|ok
odd       | 0 | 1 | -n -t 600ms -- 0.7 | renew=+OK|$-1|ok
full      | 0 | 1 | -n -t 600ms -- 0.7 | renew=full|ok
close     | 0 | 1 | -n -t 600ms -- 0.7 | renew=close|ok
garbage   | 0 | 1 | -n -t 600ms -- 0.7 | renew=<HTTP/1.1\r\n|ok
silent    | 0 | 1 | -n -t 900ms -- 0.7 | renew=nothing|ok
cut       | 0 | 1 | -n -t 600ms -- 0.7 | renew=cut:ok|ok
gone      | 76 | 1 | -n -t 600ms -- 3 | renew=gone
taken     | 76 | 1 | -n -t 600ms -- 3 | renew=held
allerrors | 76 | 1 | -n -t 600ms -- 3 | renew=-OOM~x
allsilent | 76 | 1 | -n -t 600ms -- 3 | renew=nothing
allclosed | 76 | 1 | -n -t 600ms -- 3 | renew=close accept=<|close
ROWS
}

@test "release: whatever the server says, the status is the command's, or 76" {
  HELD_MS=300
  table <<'ROWS'
oom       | 0 | 1 | -n | free=-OOM~x
noperm    | 0 | 1 | -n | free=-NOPERM~x
loading   | 0 | 1 | -n | free=-LOADING~x
loading2  | 0 | 1 | -n | free=-LOADING~x|ok
silent    | 0 | 1 | -n | free=nothing
close     | 0 | 1 | -n | free=close
close2    | 0 | 1 | -n | free=close|gone
garbage   | 0 | 1 | -n | free=<HTTP/1.1\r\n
odd       | 0 | 1 | -n | free=$-1
full      | 0 | 1 | -n | free=full
fullfull  | 0 | 1 | -n | free=full release=full
unheard   | 0 | 1 | -n | free=full release={0,1}
gone      | 76 | 1 | -n | free=gone
taken     | 76 | 1 | -n | free=held
ROWS
}

@test "a lock asked for and not heard of is released behind the question" {
  table <<'ROWS'
noanswer  | 69 | 0 | -n | take=nothing
ROWS
  wait_line "$DIR/noanswer.log" '^EVAL release'
  # Before any other connection could have done it: the same one, in order.
  awk '/^EVAL take/ { t = $5 } /^EVAL release/ { r = $5; exit } END { exit t != r }' \
    "$DIR/noanswer.log"
}
