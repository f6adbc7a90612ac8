# shellcheck shell=bash
# docs.bash: what the manual and the README say, taken out of them; for a bats
# file that has loaded rlock.bash.

MANUAL=$RLOCK_TESTS/../man/rlock.1
README=$RLOCK_TESTS/../README.md

# manual_section NAME: its lines.
manual_section() {
  awk -v name="$1" '/^\.Sh / { on = substr($0, 5) == name; next } on' "$MANUAL"
}

# manual_examples: the commands of EXAMPLES, those of one .Bd or .Dl as one,
# each ended by a NUL.
manual_examples() {
  manual_section EXAMPLES | awk '
    function plain(text) {
      gsub(/\\\(dq/, "\"", text)
      gsub(/\\e/, "\\", text)
      gsub(/\\&/, "", text)
      return text
    }
    /^\.Dl / { printf "%s%c", plain(substr($0, 5)), 0 }
    /^\.Bd / { on = 1; text = ""; next }
    /^\.Ed/ { on = 0; printf "%s%c", text, 0 }
    on { text = text plain($0) "\n" }'
}

# readme_examples: the indented commands under "## Examples" and of the head,
# each ended by a NUL.
readme_examples() {
  awk '/^#/ { on = /^# / || /^## Examples/ } on && /^    / {
    printf "%s%c", substr($0, 5), 0 }' "$README"
}

# readme_table HEADING: the rows of its table, "cell|cell".
readme_table() {
  awk -v head="## $1" '/^## / { on = $0 == head } on && /^\| / {
    sub(/^\| /, ""); sub(/ \|$/, ""); sub(/ \| /, "|"); print }' "$README" |
    sed '1,2d'
}

# manual_statuses: the numbers of EXIT STATUS, one a line.
manual_statuses() { manual_section 'EXIT STATUS' | sed -n 's/^\.It \([0-9]*\)$/\1/p'; }

# manual_store: the store of CHOOSING A LOCK, as a script.
manual_store() {
  manual_section 'CHOOSING A LOCK' | awk '/^\.Bd/ { on = 1; next } /^\.Ed/ { on = 0 } on'
}

# manual_fenced: the command that writes to it.
manual_fenced() { manual_section 'CHOOSING A LOCK' | sed -n 's/^\.Dl //p'; }
