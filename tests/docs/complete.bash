#!/bin/bash
# complete.bash FILE LINE: what the completion in FILE offers at the end of
# LINE, one a line.  xcmd is a command whose completion is one, two or --three.
# Words are cut at blanks, ':' and '=', as readline does it for COMP_WORDS.
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
if [[ -r /usr/share/bash-completion/bash_completion ]]; then
  source /usr/share/bash-completion/bash_completion
else # what counts here is the word that the command begins at
  _command_offset() {
    [[ ${COMP_WORDS[$1]} == xcmd ]] && ((COMP_CWORD > $1)) &&
      mapfile -t COMPREPLY < <(compgen -W 'one two --three' -- "${COMP_WORDS[COMP_CWORD]}")
    ((COMP_CWORD == $1)) &&
      mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  }
fi
complete -W 'one two --three' xcmd
xcmd() { :; }
# shellcheck disable=SC1090
source "$1" || exit 1
[[ $(complete -p rlock) == *' -F _rlock '* ]] || exit 1

COMP_LINE=$2
COMP_POINT=${#2}
COMP_WORDS=()
word="^[[:space:]]*([:=]+|([^[:space:]:=\"']|\"[^\"]*\"|'[^']*')+)"
rest=$2
while [[ $rest =~ $word ]]; do
  COMP_WORDS+=("${BASH_REMATCH[1]}")
  rest=${rest#"${BASH_REMATCH[0]}"}
done
[[ ! $rest ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_rlock rlock 2> >(grep -v 'compopt: not currently' >&2) # only readline calls it
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
