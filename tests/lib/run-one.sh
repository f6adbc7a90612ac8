#!/bin/bash
# run-one.sh FILE: one test file or program, its TAP to stdout and to
# $RLOCK_TAP_DIR/NAME.tap; for prove --exec.
set -u
tap=$RLOCK_TAP_DIR/$(basename "${1%/*}")-$(basename "$1").tap
: >"$tap"
case $1 in
*.bats) timeout --foreground -k 10 900 bats --tap "$1" ;;
*) timeout --foreground -k 10 300 "$1" ;;
esac | tee -a "$tap"
status=${PIPESTATUS[0]}
echo "# exit $status" >>"$tap"
exit "$status"
