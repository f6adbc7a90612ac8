#!/bin/bash
# lint.sh: everything that `make lint` checks beyond the two compilers.
# Environment: RLOCK, RLOCK_BUILD, LINT_FLAGS (the compiler's, shell-quoted).
# The functions below are called through step and none.
# shellcheck disable=SC2317
set -u
export LC_ALL=C
shopt -s nullglob
failed=()

# step NAME COMMAND...: run it; what it prints is shown only when it fails.
step() {
  local name=$1 text
  shift
  if text=$("$@" 2>&1); then
    echo "ok      $name${text:+ ($(tail -1 <<<"$text"))}"
  else
    echo "FAILED  $name"
    printf '%s\n' "$text" | sed 's/^/  /'
    failed+=("$name")
  fi
}

# none COMMAND...: succeeds when COMMAND prints nothing.
none() {
  local text
  text=$("$@" || true)
  printf '%s' "$text"
  [[ -z $text ]]
}

code=(src/*/*.c)
headers=(src/*/*.h)
test_code=(tests/*/*.c tests/*/*.h)
mapfile -t scripts < <(find .ci tests completions \
  \( -name '*.sh' -o -name '*.bash' -o -path .ci/run \) -type f 2>/dev/null | sort)
mapfile -t bats < <(find tests -name '*.bats' | sort)
mapfile -t lua < <(find src/lua -name '*.lua' | sort)
mapfile -t text < <(find Makefile README.md CHANGELOG.md LICENSE .ci src man \
  tests completions .clang-format .editorconfig .gitignore -type f \
  ! -name '*.pyc' 2>/dev/null | sort)
flags=()
eval "flags=(${LINT_FLAGS:-})"

tidy() {
  clang-tidy --quiet --checks='-*,readability-function-size' \
    --warnings-as-errors='*' --config='{CheckOptions: [
      {key: readability-function-size.LineThreshold, value: 80},
      {key: readability-function-size.StatementThreshold, value: 100000}]}' \
    "${code[@]}" -- "${flags[@]}" 2>/dev/null
}

cpp_check() {
  cppcheck -q --std=c11 --enable=warning,portability,performance \
    --inline-suppr --error-exitcode=1 -Isrc -D__linux__ \
    --suppress=missingIncludeSystem --suppress=ctunullpointer "${code[@]}" "${test_code[@]}"
}

shell_check() {
  local status=0
  ((${#scripts[@]} == 0)) || shellcheck -e SC1091 "${scripts[@]}" || status=1
  ((${#bats[@]} == 0)) || shellcheck -s bats -e SC1091,SC2030,SC2031,SC2154 \
    "${bats[@]}" || status=1
  return "$status"
}

lua_syntax() {
  local luac status=0 file
  luac=$(command -v luac5.1 || command -v luac)
  for file in "${lua[@]}"; do
    "$luac" -p "$file" || status=1
  done
  return "$status"
}

file_sizes() {
  awk 'FNR == 451 { print FILENAME ": more than 450 lines" }' \
    "${code[@]}" "${headers[@]}" "${lua[@]}" /dev/null
}

trailing_blanks() { grep -nE '[[:blank:]]+$' "${text[@]}"; }

# The brackets keep this file out of its own findings.
left_over_words() {
  grep -nE '(^|[^[:alnum:]_])(TOD[O]|FIXM[E]|XX[X])($|[^[:alnum:]_])' "${text[@]}"
}

forbidden_words() { grep -n '[/]shared/' "${text[@]}"; }

# A test waits for a fact (tests/lib/wait.bash), it does not sleep.
bare_sleeps() {
  ((${#bats[@]})) && grep -nE '^[[:blank:]]*sleep ' "${bats[@]}" /dev/null
}

# The end of main is the only exit; the child's and the guard's is _exit.
exits() {
  local c_code
  c_code=$(awk -f tests/lint/code.awk "${code[@]}" /dev/null)
  grep -E '(^|[^_[:alnum:]])(exit|abort|quick_exit) *\(' <<<"$c_code" |
    grep -v '^src/top/main\.c:'
  grep -E '(^|[^[:alnum:]])(_exit|_Exit) *\(' <<<"$c_code" |
    grep -vE '^src/lives/(child|guard)\.c:'
}

step 'layers (src/layers)' \
  awk -f tests/lint/layers.awk src/layers "${code[@]}" "${headers[@]}"
step 'exit only where it belongs' none exits
step 'files of at most 450 lines' none file_sizes
step 'no trailing blanks' none trailing_blanks
step 'no left-over words' none left_over_words
step 'no forbidden words' none forbidden_words
step 'no sleep in tests' none bare_sleeps
((${#lua[@]} == 0)) || step 'luac -p' lua_syntax
((${#lua[@]} == 0)) || step 'scripts as embedded' \
  python3 tests/lint/scripts.py "${GCC:-gcc}" "$RLOCK_BUILD"
step 'format' bash tests/lint/format.sh --check
step 'functions of at most 80 lines (clang-tidy)' tidy
step 'cppcheck' cpp_check
step 'shellcheck' shell_check
for page in man/*.1; do
  step "mandoc -Tlint $page" mandoc -Tlint -W warning "$page"
  step "options: --help and $page" bash tests/lint/options.sh "$RLOCK" "$page"
done
step 'options: --help and completions' \
  bash tests/lint/completions.sh "$RLOCK" completions

((${#failed[@]} == 0)) && exit 0
printf 'lint: failed:%s\n' "$(printf ' [%s]' "${failed[@]}")" >&2
exit 1
