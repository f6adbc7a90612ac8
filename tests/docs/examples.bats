#!/usr/bin/env bats
# The examples of the manual and the README are taken out of the files and run
# as they are printed.  ./deploy.sh and the like are stand-ins; redis-cli is one
# that asks the server of this test.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock
load docs

setup_file() { redis_start; }
teardown_file() { redis_stop; }

setup() {
  rlock_setup
  r flushall >/dev/null
  mkdir "$T/bin" "$T/work"
  cd "$T/work" || return
  ln -s "$RLOCK" "$T/bin/rlock"
  stand_in "$T/bin/redis-cli" "exec '$(type -P "$REDIS_CLI")' -s '$REDIS_SOCK' \"\$@\""
  stand_in deploy.sh "$NOTE_RUN; exit 7"
  stand_in reconcile.sh "$NOTE_RUN; exit 7"
  stand_in collect.sh "$NOTE_RUN; echo data"
  stand_in dump.sh 'echo "$RLOCK_KEY $RLOCK_SLOT $(redis-cli zrange lock:dumps 0 -1)" >>ran; exit 7'
  stand_in submit.sh 'echo "$RLOCK_KEY" >>ran'
  stand_in take.sh 'echo "$RLOCK_KEY $RLOCK_SHARD $(redis-cli keys "*")" >>ran; exit 7'
  stand_in read.sh 'echo "$RLOCK_KEY $(redis-cli zrange lock:catalog 0 -1)" >>ran; exit 7'
  stand_in write.sh "$NOTE_RUN; exit 7"
  stand_in store.sh 'echo "$RLOCK_KEY $RLOCK_FENCE" >>ran; exit 7'
  export PATH=$T/bin:$PATH
}

teardown() { rlock_teardown; }

# What a stand-in tells of its run: the key, and the lock on the server.
NOTE_RUN='for lock in $(redis-cli --raw keys "*"); do
    echo "$RLOCK_KEY $lock $(redis-cli --raw get "$lock")"
  done >>ran'

stand_in() { # FILE TEXT
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod 755 "$1"
}

# ran KEY LOCK: the stand-in ran once, under that lock, which is free again.
ran() {
  is "$(lines ran)" 1
  [[ $(cat ran) == "$1 $2 rlock:1:"* ]] || { cat ran; return 1; }
  is "$(r dbsize)" 0
  rm ran
}

# like TEXT: the stand-in ran once, and noted what begins with TEXT.
like() {
  is "$(lines ran)" 1
  [[ $(cat ran) == "$1"* ]] || { cat ran; return 1; }
  is "$(r dbsize)" 0
  rm ran
}

# Where a line of a crontab is at home: /usr/local/bin/rlock and /opt/jobs are
# there, for this process alone.  Where that is not permitted, the two folders
# in the line give way to others.
as_cron() { # LINE
  local home='' line=$1
  (($(id -u) == 0)) || home=-r
  # shellcheck disable=SC2086
  if unshare $home -m true 2>/dev/null; then
    unshare $home -m sh -ec '
      mount -t tmpfs tmpfs /usr/local/bin
      mount -t tmpfs tmpfs /opt
      mkdir /opt/jobs
      cp "$2" /usr/local/bin/rlock
      cp "$3" /opt/jobs/reconcile.sh
      cd /
      exec env -i HOME=/ SHELL=/bin/sh PATH=/usr/bin:/bin RLOCK_URL="$4" \
        T="$5" /bin/sh -c "$1"' x "$line" "$RLOCK" "$T/work/reconcile.sh" "$RLOCK_URL" "$T"
  else
    line=${line//\/usr\/local\/bin\/rlock/$T/bin/rlock}
    line=${line//\/opt\/jobs/$T/work}
    env -i HOME=/ PATH=/usr/bin:/bin RLOCK_URL="$RLOCK_URL" T="$T" /bin/sh -c "$line"
  fi
}

# Five hosts, one of which runs the job until the others are through; another
# one is so late that the job is done.
cron() { # LINE
  local command i first late
  [[ $1 =~ ^\*/5\ \*\ \*\ \*\ \*\ ([^%]+)$ ]]
  command=${BASH_REMATCH[1]}
  mkfifo "$T/go"
  stand_in reconcile.sh 'echo "$RLOCK_KEY" >>"$T/jobs"; read line <"$T/go"'
  as_cron "$command" >"$T/mail" 2>&1 3>&- &
  first=$!
  STARTED+=("$first")
  wait_file "$T/jobs"
  for i in 2 3 4 5; do
    try as_cron "$command"
    is "$i: $status $output" "$i: 0 "
  done
  echo >"$T/go"
  ended "$first"
  is "$status $(cat "$T/mail" "$T/jobs")" '0 job:recon'
  late=$(r pttl lock:job:recon)
  between 50000 "$late" 60000
  try as_cron "$command"
  is "late: $status $output $(lines "$T/jobs")" 'late: 0  1'
  r del lock:job:recon >/dev/null
  rm "$T/go" "$T/jobs"
  stand_in reconcile.sh "$NOTE_RUN; exit 7"
}

# Three hosts; the first one's job succeeds when the others wait.
nightly() { # LINE
  local command i pids=()
  [[ $1 =~ ^0\ 2\ \*\ \*\ \*\ ([^%]+)$ ]]
  command=${BASH_REMATCH[1]}
  mkfifo "$T/go"
  stand_in reconcile.sh 'echo "$RLOCK_KEY" >>"$T/jobs"; read line <"$T/go"'
  for i in 1 2 3; do
    as_cron "$command" >>"$T/mail" 2>&1 3>&- &
    pids+=("$!")
    STARTED+=("$!")
    wait_file "$T/jobs"
  done
  Q='rlock:queue:{lock:nightly}' wait_waiters 2
  echo >"$T/go"
  for i in "${pids[@]}"; do
    ended "$i"
    is "$status" 0
  done
  is "$(cat "$T/mail" "$T/jobs")" nightly
  is "$(r keys '*')" 'rlock:done:{lock:nightly}'
  r flushall >/dev/null
  rm "$T/go" "$T/jobs"
  stand_in reconcile.sh "$NOTE_RUN; exit 7"
}

# The second click is one too many.
form() { # COMMAND
  try sh -c "$1"
  is "$status $output" '0 '
  try sh -c "$1"
  is "$status $output $(cat ran)" '9  submit:u42'
  between 80000000 "$(r pttl 'rlock:done:{lock:submit:u42}')" 86400000
  r flushall >/dev/null
  rm ran
}

# The order's shelf, as another program finds it.
shelf() { # COMMAND
  local want
  want=$(python3 -c 'import zlib; print(zlib.crc32(b"4711") % 10)')
  ORDER=4711 try sh -c "$1"
  is "$status $output $(cat ran)" "7  stock $want lock:stock:$want"
  rm ran
}

# The steps, the second of which is the deploy's; it fails, the last one runs.
steps() { # COMMANDS
  stand_in deploy.sh 'echo "$RLOCK_KEY $(redis-cli pttl lock:release)" >>ran; exit 7'
  try sh -c "$1"
  is "$status $output" '0 '
  is "$(lines ran) $(cut -d' ' -f1 ran) $(r dbsize)" '1 release 0'
  between 800000 "$(cut -d' ' -f2 ran)" 900000
  rm ran
  stand_in deploy.sh "$NOTE_RUN; exit 7"
}

# Each acquisition has a greater number.
fenced() { # COMMAND
  sh -c "$1" || is "$?" 7
  sh -c "$1" || is "$?" 7
  is "$(lines ran) $(sort -u ran | wc -l)" '2 2'
  sort -n -k2 ran | cmp - ran
  grep -qxE 'invoices [0-9]{16}' ran
  r flushall >/dev/null
  rm ran
}

# Somebody holds it when it is asked for, or broken.
by_hand() { # COMMAND
  hold_deploy
  try sh -c "$1"
  is "$status" 0
  case $1 in
  *--status* | *--list*)
    [[ $output == *deploy:prod* && $output == *"$HOLDER"* ]]
    let_go
    ;;
  *--break*)
    [[ $output == *"$HOLDER"* ]]
    ended "$HOLDER" 5
    is "$status" 76
    ;;
  esac
}

hold_deploy() {
  K=deploy:prod hold -t 1
}

# locks_itself TEXT: a script that begins with it.
locks_itself() {
  printf '#!/bin/sh\n%s\necho "$RLOCK_KEY:$*" >>ran\nexit 3\n' "$1" >nightly.sh
  chmod 755 nightly.sh
  try ./nightly.sh a 'b c'
  is "$status $(cat ran)" '3 nightly:a b c'
  rm ran
}

# Several servers: so many are asked.
several() { # COMMAND
  try sh -c "$1; rlock -v --connect-timeout 100ms -n -k a true"
  is "$status" 69
  [[ $output == *"of $(wc -w <<<"${1#*=}") servers"* ]]
}

# Under the lock of this host: no key on the server.
on_host() { # COMMAND
  stand_in reconcile.sh 'rlock -u local: --status "$RLOCK_KEY" >>ran; exit 7'
  try sh -c "$1"
  is "$status $output $(head -1 ran)" '7  recon: held, exclusive'
  rm ran
  stand_in reconcile.sh "$NOTE_RUN; exit 7"
}

example() { # TEXT
  local text=$1
  case $text in
  '*/5 '*)
    cron "${text%$'\n'}"
    return
    ;;
  '0 2 '*)
    nightly "${text%$'\n'}"
    return
    ;;
  'TOKEN='*)
    steps "$text"
    return
    ;;
  *' --once '*)
    form "$text"
    return
    ;;
  *' --shard '*)
    shelf "$text"
    return
    ;;
  *' --fence '*)
    fenced "$text"
    return
    ;;
  *' -u local: '*)
    on_host "$text"
    return
    ;;
  '[ '*)
    locks_itself "$text"
    return
    ;;
  'rlock --doctor'*)
    try sh -c "$text"
    is "$status" 0
    [[ $output == *'a primary'* ]]
    return
    ;;
  'rlock --'[slb]*)
    by_hand "$text"
    return
    ;;
  'export RLOCK_URL='*)
    several "$text"
    return
    ;;
  'make '*)
    targets "${text#make }"
    return
    ;;
  'flock '*)
    text=${text//\/tmp\//$T/} # what comes before has to work, too
    ;;
  esac
  try sh -c "$text"
  is "$output" ''
  case $text in
  'flock '*) is "$status" 7 && rm -f ran ;;
  *' -c '*'| gzip >stats.gz'*) is "$status" 0 && ran stats lock:stats && is "$(gzip -dc stats.gz)" data ;;
  *'--note "build 4711"'*) is "$status" 7 && grep -q ':build%204711$' ran && ran deploy:prod lock:deploy:prod ;;
  *--report*) is "$status" 7 && ran job:recon lock:job:recon &&
    is "$(fact recon.json outcome) $(fact recon.json exit_status)" 'ran 7' ;;
  *' -j 4 '*) is "$status" 7 && like 'dumps 0 j4:0:rlock:1:' ;;
  *' -s -k catalog '*) is "$status" 7 && like 'catalog s0:rlock:1:' ;;
  *' -x -k catalog '*) is "$status" 7 && ran catalog lock:catalog ;;
  *"--prefix ''"*) is "$status" 7 && ran invoices invoices ;;
  *' -k deploy:prod '*) is "$status" 7 && ran deploy:prod lock:deploy:prod ;;
  *' -k job:recon '*) is "$status" 7 && ran job:recon lock:job:recon ;;
  *' -k recon '*) is "$status" 7 && ran recon lock:recon ;;
  *) echo 'no test knows this example'; return 1 ;;
  esac
}

# targets WORDS: `make help` lists them.
targets() {
  local target help
  help=$(env -u MAKEFLAGS -u MAKELEVEL make -s -C "$RLOCK_TESTS/.." help)
  for target in $1; do
    grep -q "^  $target " <<<"$help"
  done
}

# examples COUNT FUNCTION: there are so many, and each does what it says.
examples() {
  local text count=0
  while IFS= read -r -d '' text; do
    count=$((count + 1))
    echo "example: $text"
    example "$text"
  done < <("$2")
  between "$1" "$count" 30
}

@test "the examples of the manual" { examples 21 manual_examples; }

@test "the examples of the README" { examples 10 readme_examples; }

@test "a deploy that finds the lock held waits its turn" {
  local text
  text=$(manual_examples | tr '\0' '\n' | grep -m1 'deploy:prod -w 10m')
  hold_deploy
  bg sh -c "$text"
  Q='rlock:queue:{lock:deploy:prod}' wait_waiters 1
  let_go
  ended "$PID"
  is "$status" 7
  ran deploy:prod lock:deploy:prod
}

@test "what the README says of three lines of redis-cli" {
  local text
  text=$(grep -m1 '^    redis-cli SET lock:job me NX EX 60 && ./job.sh' "$README")
  stand_in job.sh 'echo job >>jobs'
  sh -c "$text"
  sh -c "$text"
  is "$(lines jobs)" 2
}

@test "the store that checks: who comes too late is refused" {
  local command
  command=$(manual_fenced)
  manual_store >store.sh
  chmod 755 store.sh
  stand_in report.sh 'echo "report $RLOCK_FENCE"'
  sh -c "$command"
  cp data first
  # A holder that has its number, and is paused beyond its lease.
  stand_in report.sh 'echo "$RLOCK_FENCE" >number; until [ -e wake ]; do sleep 0.02; done; echo late'
  bg sh -c "$command" 2>late.err
  wait_file number
  r del lock:invoices >/dev/null
  stand_in report.sh 'echo "report $RLOCK_FENCE"'
  sh -c "$command"
  cp data second
  not cmp -s first second
  : >wake
  RLOCK_FENCE=$(cat number) try ./store.sh <<<late
  is "$status" 1
  [[ $output == "too late: $(cat number)" ]]
  cmp data second
  ended "$PID"
}
