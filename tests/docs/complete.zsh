# complete.zsh FILE LINE: what the completion in FILE offers at the end of LINE,
# one a line, in an interactive zsh on a terminal of its own (zpty).  xcmd is a
# command whose completion is one, two or --three.
zmodload zsh/zpty zsh/zselect
export FOLDER=${1:h} HITS=$(mktemp)
trap 'rm -f $HITS' EXIT

# What is offered goes to the file, what the keys have done ends with "end"; so
# does the beginning: keys that came before zsh reads keys would end nothing.
zpty -b shell zsh -f -i
zpty -wn shell '
compadd() {
  local -a hits
  [[ ${@[1,(i)-]} == *-[OAD]( *|) ]] || {
    builtin compadd -A hits "$@"
    print -rl -- $hits >>$HITS
  }
  builtin compadd "$@"
}
fpath=($FOLDER $fpath)
autoload -Uz compinit
compinit -D -u
xcmd() { }
_xcmd() { compadd -- one two --three }
compdef _xcmd xcmd
mark() { print end >>$HITS }
zle -N mark
bindkey "^X^D" mark
bindkey "^I" list-choices
zle-line-init() { print end >>$HITS }
zle -N zle-line-init
'

await_end() {
  local junk i
  for i in {1..1500}; do
    zpty -rt shell junk # else the shell waits for its reader
    [[ $(tail -n 1 $HITS) == end ]] && return
    zselect -t 2
  done
  print -u 2 'zsh: no answer in 30 s'
  exit 1
}

await_end
: >$HITS
zpty -wn shell "$2"$'\t\x18\x04'
await_end
sed '/^end$/d' $HITS
zpty -d shell
