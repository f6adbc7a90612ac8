#!/bin/bash
# completions.sh RLOCK FOLDER: every option of --help is in each completion, and
# every option there is in --help; as -k= when it takes a value.
set -u
export LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# -k, --key KEY  text: a name in capitals makes all names of the option take a
# value, those of a line "also --nb" behind it too.
"$1" --help | awk '
  function put(word) {
    sub(/,$/, "", word)
    print word (value ? "=" : "")
  }
  $1 == "also" { for (i = 2; i <= NF; i++) put($i) }
  /^ *-/ {
    value = 0
    for (i = 1; $i ~ /^-/; i++) continue
    value = $i ~ /^[A-Z]+(\/[A-Z]+)?$/
    for (i = 1; $i ~ /^-/; i++) put($i)
  }' | sort -u >"$folder/help"

# The two lists of words.
awk '/^_rlock_(flags|valued)=/ {
    on = 1
    value = /^_rlock_valued/ ? "=" : ""
    sub(/^[^=]*=\047/, "")
  }
  on {
    last = sub(/\047.*/, "")
    n = split($0, words, " ")
    for (i = 1; i <= n; i++) print words[i] value
    if (last) on = 0
  }' "$2/rlock.bash" | sort -u >"$folder/rlock.bash"

# What is before the description, without the list of what it excludes:
# {-k+,--key=} or --report=
sed -n "s/^  '([^)]*)'*/  '/; s/^  ['{]*\(-[^[]*\)\[.*/\1/p" "$2/_rlock" |
  tr -d "'} " | tr , '\n' | sed 's/+$/=/' | sort -u >"$folder/_rlock"

# __rlock_option -s k -l key -x -d text
awk '/^__rlock_option / {
    sub(/ -[ad] .*/, "")
    value = /( -x| -r)( |$)/ ? "=" : ""
    for (i = 2; i < NF; i++)
      if ($i == "-s") print "-" $(i + 1) value
      else if ($i == "-l") print "--" $(i + 1) value
  }' "$2/rlock.fish" | sort -u >"$folder/rlock.fish"

status=0
[[ -s $folder/help ]] || { echo "--help shows no option"; status=1; }
for file in rlock.bash _rlock rlock.fish; do
  while read -r option; do
    echo "$option: in --help, not in $2/$file"
    status=1
  done < <(comm -23 "$folder/help" "$folder/$file")
  while read -r option; do
    echo "$option: in $2/$file, not in --help"
    status=1
  done < <(comm -13 "$folder/help" "$folder/$file")
done
exit $status
