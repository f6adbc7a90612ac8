# shellcheck shell=bash
# soak.bash: the rounds of soak.py as a test.  $ROUNDS: how many; empty or 0:
# the full number.

# soak WHAT: fails when a promise was broken; `make soak` prints the figures,
# which are the lines that begin with "# = ".
soak() {
  local status=0
  timeout -k 20 840 python3 -I -S -B "$RLOCK_TESTS/soak/soak.py" "$1" "${ROUNDS:-0}" \
    >"$BATS_TEST_TMPDIR/figures" 2>&1 3>&- || status=$?
  sed 's/^/# = /' "$BATS_TEST_TMPDIR/figures" >&3
  return "$status"
}
