#!/bin/bash
# options.sh RLOCK MAN: every option of --help is in the manual (.Fl), and every
# .Fl of the manual is in --help.
set -u
export LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$1" --help | sed -n 's/^ *also -/ -/p; /^ *-/p' | awk '
  { # the options come first in a line: -k, --key KEY  text; also --nb
    for (i = 1; i <= NF && $i ~ /^-|^[A-Z]/; i++) {
      word = $i
      sub(/[,=\[].*$/, "", word)
      if (word ~ /^(-[A-Za-z0-9]|--[a-z][a-z0-9-]*)$/) print word
    }
  }' | sort -u >"$folder/help"

awk '/^\./ { # .Fl k  .Fl -key  .Fl Fl key
    for (i = 1; i < NF; i++) {
      if ($i != "Fl" && $i != ".Fl") continue
      dashes = "-"
      while ($(i + 1) == "Fl") { dashes = dashes "-"; i++ }
      word = $(i + 1)
      gsub(/\\-/, "-", word); sub(/^\\&/, "", word)
      word = dashes word
      if (word ~ /^(-[A-Za-z0-9]|--[a-z][a-z0-9-]*)$/) print word
    }
  }' "$2" | sort -u >"$folder/man"

status=0
[[ -s $folder/help ]] || { echo "--help shows no option"; status=1; }
while read -r option; do
  echo "$option: in --help, not in $2"
  status=1
done < <(comm -23 "$folder/help" "$folder/man")
while read -r option; do
  echo "$option: in $2, not in --help"
  status=1
done < <(comm -13 "$folder/help" "$folder/man")
exit $status
