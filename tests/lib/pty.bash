# shellcheck shell=bash
# What is set here is read by the tests.
# shellcheck disable=SC2034
# pty.bash: a terminal with somebody at it (tests/progs/pty.py), for a bats file
# that has loaded rlock.bash.
#
#   pty_start                 an interactive bash; its prompt shows the status
#   types 'rlock -k k cat'    a line and Return
#   presses '\x1a'            keys: Ctrl-Z
#   prompts 148               the prompt is back, the status before it is 148
#   sees 'Stopped'            it is, since what was seen before
#
# The lines are read by the bash of the terminal: RLOCK, K, T and the like are
# in its environment.  It ends, with all of its session, with the test (pty_stop
# in teardown).

# pty_open [--size ROWSxCOLUMNS] COMMAND...: COMMAND on a terminal; its process
# in PTY_PID.
pty_open() {
  PTY_DIR=$T/pty.${#STARTED[@]}
  mkdir "$PTY_DIR"
  # shellcheck disable=SC2217 # it is not the shell's own bg
  TERM=xterm bg python3 -I -S "$RLOCK_TESTS/progs/pty.py" --dir "$PTY_DIR" --owner $$ \
    "$@" </dev/null >"$PTY_DIR/out" 2>&1
  PTY_DRIVERS+=("$PID")
  PTY_PID=$(wait_pidfile "$PTY_DIR/pid") || { cat "$PTY_DIR/out" >&2; return 1; }
}

# pty_start [--size ROWSxCOLUMNS]: an interactive bash.
pty_start() {
  # By env: a shell on the way (python3 may be one) drops PS1.
  pty_open "$@" env PS1='[$?]> ' HISTFILE= bash --norc --noprofile --noediting -i
  prompts 0
}

# End what pty_open has started; with it goes its session.
pty_stop() {
  local pid
  for pid in ${PTY_DRIVERS[@]+"${PTY_DRIVERS[@]}"}; do
    _wait_ended "$pid" || kill -TERM "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}

# pty ORDER...: see pty.py; its answer in REPLY.
pty() {
  printf '%s\n' "$*" >"$PTY_DIR/ctl"
  IFS= read -rt 40 REPLY <"$PTY_DIR/ack" || REPLY='no answer from pty.py'
}

_pty_ok() {
  pty "$@"
  [[ $REPLY == ok ]] || { echo "$REPLY" >&2; return 1; }
}

types() { _pty_ok "line $1"; }
presses() { _pty_ok "keys $1"; }
hangs_up() { _pty_ok hangup; }

# sees PATTERN [SECONDS]
sees() { _pty_ok "see ${2:-$WAIT_BOUND} $1"; }

# unseen PATTERN: not since what was seen last, so far.
unseen() { _pty_ok "unseen $1"; }

# prompts STATUS [SECONDS]: the shell waits for a line.
prompts() { sees "\\[$1\\]> \\Z" "${2:-$WAIT_BOUND}"; }

# ends STATUS [SECONDS]: the command of the terminal has ended.
ends() {
  pty status "${2:-$WAIT_BOUND}"
  is "$REPLY" "$1"
}

# in_front PGID: that process group is in the foreground.
in_front() {
  pty foreground
  is "$REPLY" "$1"
}

# modes MODES: as pty.py shows them.
modes() {
  pty modes
  is "$REPLY" "$1"
}
