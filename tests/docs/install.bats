#!/usr/bin/env bats
# make install and make uninstall.

load ../lib/wait

setup() {
  T=$BATS_TEST_TMPDIR
  ROOT=$(cd "$RLOCK_TESTS/.." && pwd)
  PLACES='bin/rlock
share/bash-completion/completions/rlock
share/fish/vendor_completions.d/rlock.fish
share/man/man1/rlock.1
share/zsh/site-functions/_rlock'
}

# mk ARGUMENTS...: make, as a user would call it.
mk() {
  env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make --no-print-directory \
    B="${BUILD:-$RLOCK_BUILD}" "$@"
}

# files FOLDER: what is in it that is no folder.
files() { (cd "$1" && find . ! -type d | sed 's,^\./,,' | LC_ALL=C sort); }

# same FOLDER: what was installed is what is in the tree, with its modes.
same() {
  cmp "$RLOCK_BUILD/rlock" "$1/bin/rlock"
  cmp "$ROOT/man/rlock.1" "$1/share/man/man1/rlock.1"
  cmp "$ROOT/completions/rlock.bash" "$1/share/bash-completion/completions/rlock"
  cmp "$ROOT/completions/_rlock" "$1/share/zsh/site-functions/_rlock"
  cmp "$ROOT/completions/rlock.fish" "$1/share/fish/vendor_completions.d/rlock.fish"
  [[ $(cd "$1" && find . -type f -printf '%m ' | tr ' ' '\n' | sort | uniq -c |
    awk '{ print $1 "x" $2 }' | tr '\n' ' ') == '4x644 1x755 ' ]]
}

# built: the files of the build, with their times.
built() {
  find "$RLOCK_BUILD" \( -name '*.o' -o -name rlock -o -name flags -o -name objs \) \
    -not -path '*/lint/*' -not -path '*/san/*' -printf '%p %T@\n' | sort
}

@test "install: five files, nothing is built; uninstall: none, others' stay" {
  local before
  before=$(built)
  run mk -C "$ROOT" install DESTDIR="$T/a b" PREFIX=/opt/x
  [[ $status == 0 && $output != *' CC '* && $output != *' LD '* ]]
  [[ $(built) == "$before" ]]
  [[ $(files "$T/a b/opt/x") == "$PLACES" ]]
  [[ $(files "$T/a b" | wc -l) == 5 ]]
  same "$T/a b/opt/x"
  touch "$T/a b/opt/x/bin/other"
  mk -C "$ROOT" uninstall DESTDIR="$T/a b" PREFIX=/opt/x
  [[ $(files "$T/a b") == opt/x/bin/other ]]
  mk -C "$ROOT" uninstall DESTDIR="$T/a b" PREFIX=/opt/x
}

@test "install: the default is /usr/local; the folders can be chosen" {
  mk -C "$ROOT" install DESTDIR="$T/d"
  [[ $(files "$T/d/usr/local") == "$PLACES" ]]
  [[ $(files "$T/d" | wc -l) == 5 ]]
  mk -C "$ROOT" install DESTDIR="$T/e" BINDIR=/b MANDIR=/m BASHCOMPDIR=/c1 \
    ZSHCOMPDIR=/c2 FISHCOMPDIR=/c3
  [[ $(files "$T/e" | tr '\n' ' ') == 'b/rlock c1/rlock c2/_rlock c3/rlock.fish m/man1/rlock.1 ' ]]
}

@test "install: twice, under a narrow umask, over a program that runs" {
  umask 077
  mk -C "$ROOT" install PREFIX="$T/p"
  cp "$(type -P sleep)" "$T/p/bin/rlock"
  "$T/p/bin/rlock" 20 3>&- &
  mk -C "$ROOT" install PREFIX="$T/p"
  kill $!
  same "$T/p"
}

@test "what is installed works, and does not know where it was built" {
  mk -C "$ROOT" install PREFIX="$T/p"
  [[ $("$T/p/bin/rlock" --version) == "rlock $(cat "$ROOT/VERSION")" ]]
  run grep -rlF -e "$ROOT" -e "$RLOCK_BUILD" "$T/p"
  [[ $status == 1 && ! $output ]]
  mandoc -T utf8 "$T/p/share/man/man1/rlock.1" >"$T/page"
  grep -q 'run a command under a lock' "$T/page"
}

@test "install: from a tree that is read-only" {
  local as=()
  D=$(mktemp -d /tmp/rlock.XXXXXX) # where another user gets to
  chmod 755 "$D"
  mkdir "$D/tree" "$D/tree/build" "$D/to"
  (cd "$ROOT" && cp -a Makefile VERSION LICENSE src man completions tests "$D/tree")
  (cd "$RLOCK_BUILD" && cp -a rlock flags objs src script_data.* "$D/tree/build")
  chmod -R a-w,a+rX "$D/tree"
  chmod 777 "$D/to"
  # For root nothing is read-only.
  (($(id -u))) || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  BUILD=build run "${as[@]}" env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS \
    make --no-print-directory -C "$D/tree" install PREFIX="$D/to"
  echo "$output"
  [[ $status == 0 && $(files "$D/to") == "$PLACES" ]]
  same "$D/to"
}

teardown() {
  [[ ! ${D:-} ]] || { chmod -R u+w "$D" && rm -rf "$D"; }
}

@test "dist: twice the same bytes, and what is in it builds by itself" {
  local first version
  # A clone, since only what is committed counts, and without the rest.
  git clone -q "$ROOT" "$T/clone" 2>/dev/null || skip 'no git checkout'
  mk -C "$T/clone" B=build dist >/dev/null
  first=$(sha256sum <"$T/clone/build/"rlock-*.tar.gz)
  find "$T/clone" -type f -exec touch {} +
  (umask 077 && mk -C "$T/clone" B=build dist >/dev/null)
  [[ $(sha256sum <"$T/clone/build/"rlock-*.tar.gz) == "$first" ]]
  tar -xzf "$T/clone/build/"rlock-*.tar.gz -C "$T"
  mk -C "$T"/rlock-* B=build CFLAGS=-O0 -j2 >/dev/null
  version=$(cat "$ROOT/VERSION")
  [[ $("$T/rlock-$version/build/rlock" --version) == "rlock $version"* ]]
}
