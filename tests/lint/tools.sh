#!/bin/bash
# tools.sh GCC CLANG: say which tools lint lacks; status 1 when one is missing.
# clang-format is not among them: it is used where version 14 is at hand.
set -u
missing=()
for tool in "$@" clang-tidy cppcheck shellcheck mandoc python3; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
command -v luac5.1 >/dev/null || command -v luac >/dev/null || missing+=(luac)
((${#missing[@]} == 0)) && exit 0
echo "lint: not installed: ${missing[*]} (make deps)" >&2
exit 1
