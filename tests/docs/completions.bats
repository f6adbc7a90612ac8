#!/usr/bin/env bats
# The completions, in the real shells: each is asked what it offers.
# shellcheck disable=SC2153

load ../lib/rlock

setup() {
  T=$BATS_TEST_TMPDIR
  cd "$T" || return
  DOCS=$RLOCK_TESTS/docs
  SHELLS=$RLOCK_TESTS/../completions
}

# offered SHELL LINE: what it offers, sorted, as one line.
offered() {
  case $1 in
  bash) bash --norc "$DOCS/complete.bash" "$SHELLS/rlock.bash" "$2" ;;
  zsh) zsh -f "$DOCS/complete.zsh" "$SHELLS/_rlock" "$2" ;;
  fish) fish --no-config "$DOCS/complete.fish" "$SHELLS/rlock.fish" "$2" ;;
  esac | sed '/^ *$/d' | LC_ALL=C sort -u | tr '\n' ' ' | sed 's/ $//'
}

# offers LINE WORDS: just these, in each shell (WORDS sorted).
offers() {
  local shell got
  for shell in bash zsh fish; do
    got=$(offered "$shell" "$1")
    [[ $got == "$2" ]] ||
      { printf '%s: %s\n got: %.500s\nnot: %s\n' "$shell" "$1" "$got" "$2"; return 1; }
  done
}

@test "options, by their beginning" {
  offers 'rlock --max-r' '--max-run'
  offers 'rlock -k a -t 30 --non' '--nonblock --nonblocking'
  offers 'rlock --prefi' '--prefix'
}

@test "all the options of --help are offered, where options can stand" {
  local shell option all
  for shell in bash zsh fish; do
    all=" $(offered "$shell" 'rlock --') $(offered "$shell" 'rlock -') "
    for option in $("$RLOCK" --help | grep -oE '(^| )--?[a-zA-Z][a-z-]*' | tr -d ' '); do
      [[ $all == *" $option "* ]] || { echo "$shell: $option"; false; }
    done
  done
}

@test "--on-lost: the choices that rlock names, as a word or behind =" {
  local choices
  choices=$("$RLOCK" --on-lost x 2>&1) || true
  choices=${choices##*is not }
  choices=$(tr -s ', ' '\n' <<<"${choices/ or / }" | LC_ALL=C sort | tr '\n' ' ')
  [[ $choices == *kill*warn* ]]
  offers 'rlock --on-lost ' "${choices% }"
  offers 'rlock -k a --on-lost=' "${choices% }"
  offers 'rlock --on-lost=w' 'warn'
}

@test "--signal: names of signals, and all of them are known to rlock" {
  local shell signal all
  offers 'rlock --signal TE' 'TERM'
  for shell in bash zsh fish; do
    all=$(offered "$shell" 'rlock --signal ')
    [[ " $all " == *' HUP '*' INT '*' USR1 '* ]]
    for signal in $all; do
      "$RLOCK" --signal "$signal" --help >"$T/out" || { echo "$shell: $signal"; false; }
    done
  done
}

@test "--password-file and --report: files" {
  mkdir folder
  touch secret.txt
  [[ $(offered bash 'rlock --report f') == folder ]]
  [[ $(offered zsh 'rlock --report f') == folder ]]
  [[ $(offered fish 'rlock --report f') == folder/ ]]
  offers 'rlock --password-file se' 'secret.txt'
  offers 'rlock -n --report=se' 'secret.txt'
}

@test "other values: nothing is guessed" {
  local option
  touch 30 deploy
  for option in -k -t -j -w -r -E -u -c --note --prefix --shard --kill-after --max-run \
    --min-hold --once --once-exit-code --token; do
    offers "rlock $option " ''
  done
}

@test "behind the options: a command" {
  offers 'rlock -k deploy:prod -t 30 xcm' 'xcmd'
  offers 'rlock -nk a xcm' 'xcmd'
  offers 'rlock -k a --wait=3 -- xcm' 'xcmd'
}

@test "behind the command: its own completion" {
  offers 'rlock -k deploy:prod -w 10m -- xcmd o' 'one'
  offers 'rlock -k a -u redis://h:6379/1 xcmd t' 'two'
  offers 'rlock --key=a:b -n xcmd one o' 'one'
  [[ $(offered fish 'rlock -k a xcmd ') == 'one two' ]]
  [[ $(offered zsh 'rlock -k a xcmd ') == *'one two' ]]
  [[ $(offered bash 'rlock -k a xcmd ') == *'one two' ]]
  offers 'rlock -vnk a xcmd --t' '--three'
}

@test "-c has a string: no command, options still" {
  offers "rlock -k a -c 'x | y' xcm" ''
  offers "rlock -k a -c 'x | y' --max-r" '--max-run'
}

@test "behind a verb: no command, no file; options before and after its operand" {
  local verb shell
  touch deploy xcmd-file
  for verb in --acquire --renew --release --status --list --break --doctor; do
    offers "rlock $verb xcm" ''
    offers "rlock $verb --js" '--json'
    offers "rlock $verb deploy --js" '--json'
    offers "rlock -t 30 $verb xcm" ''
  done
  for shell in bash fish; do # zsh knows no abbreviations
    is "$(offered "$shell" 'rlock --rene --tok')" '--token'
    is "$(offered "$shell" 'rlock --rene xcm')" ''
  done
  offers 'rlock --release a --token ' ''
  # Behind the command it is the command's own.
  offers 'rlock -k a xcmd --status o' 'one'
}

@test "-j and --shard: a value each, then the command" {
  offers 'rlock -k a -j 4 xcm' 'xcmd'
  offers 'rlock -j4 -k a -- xcm' 'xcmd'
  offers 'rlock -k a --slots=4 xcmd o' 'one'
  offers 'rlock -k a --shard u:42/10 xcm' 'xcmd'
  offers 'rlock -sk a --fence xcm' 'xcmd'
  offers 'rlock -k a --shar' '--shard --shared'
}

@test "bash without bash-completion: commands, then files" {
  touch folder-or-file
  run bash --norc -c '
    source "$1/rlock.bash"
    COMP_WORDS=(rlock -k a xcmd fold) COMP_CWORD=4
    COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE}
    _rlock 2>/dev/null
    echo "${COMPREPLY[*]}"' x "$SHELLS"
  is "$output" folder-or-file
}

@test "the files are sound, and say nothing when they are read" {
  run bash --norc -c 'set -u; source "$1/rlock.bash"' x "$SHELLS"
  is "$status $output" '0 '
  run fish --no-config "$SHELLS/rlock.fish"
  is "$status $output" '0 '
  run zsh -fn "$SHELLS/_rlock"
  is "$status $output" '0 '
  is "$(head -1 "$SHELLS/_rlock")" '#compdef rlock'
}
