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

# Five hosts, one of which runs the job until the others are through.
cron() { # LINE
  local command i first
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
  rm "$T/go" "$T/jobs"
  stand_in reconcile.sh "$NOTE_RUN; exit 7"
}

# Somebody holds it when it is asked for, or broken.
by_hand() { # COMMAND
  hold_deploy
  try sh -c "$1"
  is "$status" 0
  case $1 in
  *GET*)
    [[ $output == rlock:1:* ]]
    let_go
    ;;
  *DEL*)
    is "$output" 1
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

example() { # TEXT
  local text=$1
  case $text in
  '*/5 '*)
    cron "${text%$'\n'}"
    return
    ;;
  '[ '*)
    locks_itself "$text"
    return
    ;;
  'redis-cli '*)
    by_hand "$text"
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

@test "the examples of the manual" { examples 12 manual_examples; }

@test "the examples of the README" { examples 6 readme_examples; }

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
