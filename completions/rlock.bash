# shellcheck shell=bash
# Completion of rlock for bash; behind the options it is the command's own.
# `make lint` compares the two lists of options with --help.

_rlock_flags='-x -e --exclusive -s --shared -n --nonblock --nb --nonblocking
  --fence -o --close --acquire --renew --release --status --list --break --doctor --json
  --tls-insecure -v --verbose -q --quiet -h --help -V --version'
_rlock_valued='-k --key -t --ttl -j --slots -w --wait --timeout -r --retries
  --retry-delay --retry-max -E --conflict-exit-code --note --prefix --shard
  -c --command --on-lost --on-unreachable --signal --kill-after --max-run --min-hold --once
  --once-exit-code -u --url --connect-timeout --command-timeout --password-file
  --tls-cacert --tls-cert --tls-key --replicas --token --report --metrics --log'
_rlock_verbs='--acquire --renew --release --status --list --break --doctor'

# Set want to the option that the next word is the value of, if any, and shell
# if it is -c or a verb, behind which there is no command; $1 is an option as
# typed: abbreviated, or letters in a row.
_rlock_option() {
  local name letters=''
  want=
  for name in $_rlock_verbs; do
    [[ $1 != --* || $name != "$1"* ]] || shell=1
  done
  for name in $_rlock_valued; do
    if [[ $name == -[!-] ]]; then
      letters+=${name#-}
    elif [[ ! $want && $name == "${1%%=*}"* ]]; then
      want=$name
    fi
  done
  if [[ $1 != --* ]]; then
    name=${1#-}
    name=${name#"${name%%["$letters"]*}"} # what has a value, and that value
    want=${name:+-${name:0:1}}
  fi
  [[ $want != -c && $want != --command ]] || shell=1
  [[ $1 != --*=* && ($1 == --* || ${#name} -eq 1) ]] || want=
}

# The command, whose first word is COMP_WORDS[$1].
_rlock_command() {
  local action=-f
  if declare -F _comp_command_offset >/dev/null; then # bash-completion 2.12
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  else
    ((COMP_CWORD > $1)) || action=-c
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$action" -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}

_rlock() {
  local line=${COMP_LINE:0:COMP_POINT} words=() first=() want='' shell='' i word
  COMPREPLY=()
  # bash cuts words at ':' and '=': what no blank parts is one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${line#"${line%%[![:space:]]*}"}
    ((i == COMP_CWORD)) || word=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
      words+=("$word") first+=("$i")
    else
      words[-1]+=$word
    fi
    line=${line#*"$word"}
  done

  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    if [[ $want ]]; then
      want=
    elif [[ $word == -- ]]; then
      [[ $shell ]] || _rlock_command "${first[i + 1]}"
      return
    elif [[ $word == -?* ]]; then
      _rlock_option "$word"
    elif [[ ! $shell ]]; then
      _rlock_command "${first[i]}"
      return
    fi
  done

  word=${words[-1]}
  if [[ ! $want && $word == --*=* ]]; then
    _rlock_option "${word%%=*}"
    word=${word#*=}
  elif [[ ! $want ]]; then
    if [[ $word == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$_rlock_flags $_rlock_valued" -- "$word")
    elif [[ ! $shell ]]; then
      _rlock_command "${first[-1]}"
    fi
    return
  fi
  case $want in
  --on-unreachable) mapfile -t COMPREPLY < <(compgen -W 'fail skip run local' -- "$word") ;;
  --on-lost) mapfile -t COMPREPLY < <(compgen -W 'kill warn pause' -- "$word") ;;
  --signal)
    mapfile -t COMPREPLY < <(compgen -W \
      "$(compgen -A signal | sed -n 's/^SIG\([A-IK-Z]\)/\1/p')" -- "$word")
    ;;
  --log) mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$word") ;;
  --password-file | --report | --metrics | --tls-cacert | --tls-cert | --tls-key)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    ;;
  esac
  # readline replaces only what is behind the last ':' or '='.
  COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*["$COMP_WORDBREAKS"]}"}"}")
}

complete -F _rlock rlock
