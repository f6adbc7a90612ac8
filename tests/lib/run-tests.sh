#!/bin/bash
# run-tests.sh TAPDIR PART...: run tests by prove and count them.
#
# A PART is a folder of tests (unit, run, tests/lock) or one test file
# (tests/lock/take.bats, tests/unit/test_parse.c).  What each file said stays
# in TAPDIR/NAME.tap; the last line is "N passed, N failed".
#
# Environment: RLOCK (the binary), RLOCK_BUILD (where the unit tests are), JOBS,
# SKIPS_AS_FAILS=1 (a skipped test is a failure; .ci/run sets it: what a test
# needs beyond packages, root above all, it has there), BATS_TEST_TIMEOUT.
set -u
[[ -d /usr/bin/core_perl ]] && PATH=$PATH:/usr/bin/core_perl # prove, on Arch

export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-60}
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
export RLOCK_TESTS=${here%/*} RLOCK_PROGS=$RLOCK_BUILD/progs
# What the caller's environment says about servers is not for the tests.
unset RLOCK_URL RLOCK_PREFIX RLOCK_TTL RLOCK_TOKENS REDISCLI_AUTH
# Nor are the flags of a make that runs them: some run make themselves.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES B SAN CFLAGS WERROR

tap_dir=$1
shift
rm -rf "$tap_dir" && mkdir -p "$tap_dir" || exit 71
RLOCK_TAP_DIR=$(cd "$tap_dir" && pwd)
export RLOCK_TAP_DIR

files=()
add_part() {
  local part=${1%/} found
  part=tests/${part#tests/}
  case $part in
  tests/unit)
    for found in "$part"/test_*.c; do
      [[ -e $found ]] && files+=("$RLOCK_BUILD/unit/$(basename "$found" .c)")
    done
    ;;
  tests/unit/*) files+=("$RLOCK_BUILD/unit/$(basename "$part" .c)") ;;
  tests/script | tests/run | tests/lock | tests/net | tests/docs | tests/soak)
    while IFS= read -r found; do # may be absent, until it has a test
      files+=("$found")
    done < <(find "$part" -name '*.bats' 2>/dev/null | LC_ALL=C sort)
    ;;
  *)
    [[ -e $part ]] || { echo "no such tests: $part" >&2; exit 64; }
    while IFS= read -r found; do
      files+=("$found")
    done < <(find "$part" -name '*.bats' | LC_ALL=C sort)
    ;;
  esac
}
for part; do
  add_part "$part"
done

status=0
if ((${#files[@]})); then
  for tool in prove bats; do
    command -v "$tool" >/dev/null || { echo "no $tool: make deps" >&2; exit 69; }
  done
  prove -j"${JOBS:-2}" --exec "bash $here/run-one.sh" "${files[@]}" </dev/null ||
    status=1
else
  echo "no tests in: $*"
fi
shopt -s nullglob
if ((status)); then # prove does not say what the failed tests have said
  awk 'FNR == 1 { show = 0 }
    /^(not )?ok / { show = /^not/; if (show) print "\n" FILENAME }
    show && !/^# exit / && !/^1\.\./' "$RLOCK_TAP_DIR"/*.tap /dev/null
  echo
fi
awk -v strict="${SKIPS_AS_FAILS:-0}" \
  -v allowed="${RLOCK_SANITIZE:+skip.*sanitizers}" -f "$here/count.awk" \
  "$RLOCK_TAP_DIR"/*.tap /dev/null >"$RLOCK_TAP_DIR/summary" || status=1
cat "$RLOCK_TAP_DIR/summary"
exit $status
