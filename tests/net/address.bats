#!/usr/bin/env bats
# Where the server is: URLs that must be refused, names, IPv6, sockets.

load ../lib/net

setup_file() { redis_start --tcp; }
teardown_file() { redis_stop; }
setup() {
  net_setup
  AT=127.0.0.1:$REDIS_PORT
}
teardown() { net_teardown; }

# refused URL PATTERN: 64 before any connection is tried, and said so.
refused() {
  GOT=0
  traced "$T/strace" connect,sendto "$RLOCK" -k "$K" -n -u "$1" -- \
    touch "$T/ran" >"$T/out" 2>"$T/err" || GOT=$?
  is "$1: 64" "$1: $GOT"
  is "$1: 1" "$1: $(wc -l <"$T/err")"
  is "$1: " "$1: $(cat "$T/out")"
  [ ! -s "$T/strace" ] || { echo "$1:"; cat "$T/strace"; return 1; }
  [ ! -e "$T/ran" ]
  [ -z "${2:-}" ] || said err "$2"
}

@test "URLs that are refused: 64 and why, and no connection to a guessed host" {
  refused "redis://:57#x@$AT/0" '%23'
  refused "redis://:5%7x@$AT/0" '%25'
  refused "redis://:5%zz@$AT" '%25'
  refused "redis://:a b@$AT" '%20'
  refused $'redis://:a\tb@'"$AT"
  refused "redis://h:port/" port
  refused "redis://h:70000" port
  refused "redis://h:0" port
  refused "redis://h:-1" port
  refused "redis://h:+1" port
  refused "redis://h: 1"
  refused "redis://h:7001/abc" database
  refused "redis://h:7001/-1" database
  refused "redis://h:7001/0/1" database
  refused "redis://h:7001/99999999999" database
  refused "redis://" host
  refused "redis://:7001" host
  refused "redis:///0" host
  refused "redis:h"
  refused "http://h" http
  refused "h:7001"
  refused "127.0.0.1"
  refused ""
  refused "redis://$AT/0?db=1" twice
  refused "redis://$AT?db=1&db=2" twice
  refused "redis://$AT?dbb=1" 'not known'
  refused "redis://$AT?timeout=1" 'not known'
  refused "redis://a@b@h" '%40'
  refused "redis://u:p/q@h" '%2F'
  refused "redis://::1:7001" bracket
  refused "redis://[::1" ']'
  refused "redis://[::1]7001" port
  refused "redis://[nonsense]:7001" IPv6
  refused "redis://[127.0.0.1]:7001" IPv6
  refused "redis://h_%00:1"
  refused "unix://relative/path"
  refused "unix://"
  refused "unix:///p?db=x" database
  refused "sentinel://$AT" 'names no primary'
  refused "cluster://$AT/1" 'a cluster has only 0'
}

@test "two URLs that are one server are refused, the same one before it is asked" {
  GOT=0
  traced "$T/strace" connect "$RLOCK" -k "$K" -n -u "redis://$AT" -u "redis://$AT" -- touch "$T/ran" 2>"$T/err" || GOT=$?
  is 64 "$GOT"
  is 1 "$(wc -l <"$T/err")"
  [ ! -s "$T/strace" ]
  RLOCK_URL="redis://$AT unix://$REDIS_SOCK" timed rl -n -- touch "$T/ran"
  is 78 "$GOT"
  [ ! -e "$T/ran" ]
}

@test "a wrong RLOCK_URL is refused as -u is, and -u wins over it" {
  RLOCK_URL="redis://h:port" timed rl -n -- true
  is 64 "$GOT"
  RLOCK_URL="redis://127.0.0.1:1" timed rl -n -u "redis://$AT" -- true
  is 0 "$GOT"
}

@test "ways to write the server that is meant" {
  local url
  ln -s "$REDIS_SOCK" "$T/so ck+x"
  for url in "redis://$AT" "redis://$AT/" "redis://$AT/0" "REDIS://$AT" \
    "redis://$AT?db=3" "redis://@$AT" "redis://127.0.0.1:0$REDIS_PORT" "$REDIS_SOCK" \
    "unix://$REDIS_SOCK" "redis+unix://$REDIS_SOCK?db=2" "unix://$T/so%20ck+x" \
    "redis://localhost:$REDIS_PORT"; do
    timed rl -n -u "$url" -- true
    is "$url 0" "$url $GOT"
  done
}

@test "a server on 127.0.0.1 only: localhost finds it; [::1] is refused or unreachable, 69" {
  timed rl -n -u "redis://localhost:$REDIS_PORT" -- true
  is 0 "$GOT"
  within 0 "$TOOK" 800
  timed rl -n -u "redis://[::1]:$REDIS_PORT" -- true
  is 69 "$GOT"
  within 0 "$TOOK" 800
  said err "\[::1\]:$REDIS_PORT"
}

@test "a server on ::1 only: [::1] and localhost find it, with all that a lock does" {
  [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6 || skip 'this system has no ::1'
  # A relay on ::1, since the file's server is on 127.0.0.1.
  PROXY_DIR=$T/proxy
  mkdir "$PROXY_DIR"
  begin proxy python3 -I -S "$RLOCK_TESTS/progs/proxy.py" --listen '[::1]:0' \
    --to "$REDIS_SOCK" --dir "$PROXY_DIR" --owner $$
  wait_file "$PROXY_DIR/port"
  port=$(cat "$PROXY_DIR/port")
  timed rl -n -u "redis://[::1]:$port" -- true
  is 0 "$GOT"
  timed rl -n -u "redis://[0:0:0:0:0:0:0:1]:$port/2" -- true
  is 0 "$GOT"
  timed rl -n -u "redis://[::1%25lo]:$port" -- true
  is 0 "$GOT"
  timed rl -n -u "redis://localhost:$port" -- true
  is 0 "$GOT"
  within 0 "$TOOK" 800
  hold a -u "redis://localhost:$port" -t 600ms
  begin b rl -u "redis://[::1]:$port" -- touch "$T/ran"
  queued 1
  proxy cut
  listening 1
  finish a
  status "$PID_a"
  is 0 "$GOT"
  status "$PID_b"
  is 0 "$GOT"
  no_trace
}

# with_hosts LINES COMMAND...: with an /etc/hosts of its own, and a resolver
# that nobody answers at.  DNS is the server's address there.
with_hosts() {
  printf '%s\n' "127.0.0.1 localhost" "$1" >"$T/hosts"
  printf 'nameserver %s\noptions timeout:30 attempts:5\n' "${DNS:-127.0.0.1}" >"$T/resolv.conf"
  printf 'hosts: files dns\n' >"$T/nsswitch.conf"
  shift
  [[ $1 == rl ]] && set -- "$RLOCK" -k "$K" "${@:2}"
  # shellcheck disable=SC2016
  set -- "${UNSHARE[@]}" -m${NOROOT:+r} sh -c '
    for file in hosts resolv.conf nsswitch.conf; do
      mount --bind "$1/$file" "/etc/$file" || exit 99
    done
    shift; exec "$@"' sh "$T" "$@"
  "${WITH[@]}" "$@"
}

private_hosts_or_skip() {
  WITH=(timed)
  [[ $(id -u) -eq 0 ]] || NOROOT=1
  with_hosts "" true
  [[ $GOT -eq 0 ]] || skip "no private mounts here: $(cat "$T/err")"
}

@test "a name with several addresses, of which the first refuse" {
  private_hosts_or_skip
  with_hosts "127.0.0.2 lockhost
127.0.0.3 lockhost
::1 lockhost
127.0.0.1 lockhost" rl -n -u "redis://lockhost:$REDIS_PORT" -- true
  is 0 "$GOT"
  within 0 "$TOOK" 1500
  no_trace
}

@test "a name with several addresses that all refuse: 69" {
  private_hosts_or_skip
  with_hosts "127.0.0.2 lockhost
127.0.0.3 lockhost" rl -n -u "redis://lockhost:$REDIS_PORT" -- true
  is 69 "$GOT"
  within 0 "$TOOK" 1500
  said err 'lockhost.*refused'
}

@test "a name: held, reconnected, waited for, released; the resolver may fail meanwhile" {
  private_hosts_or_skip
  WITH=(begin a)
  with_hosts "127.0.0.1 lockhost" rl -u "redis://lockhost:$REDIS_PORT" -t 2 -- \
    sh -c "echo x >$T/up; exec sleep 3"
  wait_file "$T/up"
  # The name is gone; the addresses that were good are kept.
  echo >"$T/hosts"
  for _ in 1 2 3 4 5; do
    r client kill type normal skipme yes >/dev/null
    let_pass 300
  done
  status "$PID_a"
  is 0 "$GOT"
  is '' "$(cat "$T/a.err")"
  no_trace
}

@test "a name that is not known: 69, which name, bounded by the connect timeout" {
  private_hosts_or_skip
  with_hosts "" rl --connect-timeout 0.8 -u "redis://no.such.host.invalid:$REDIS_PORT" -- true
  is 69 "$GOT"
  within 0 "$TOOK" 2000
  said err 'no\.such\.host\.invalid'
  with_hosts "" rl -n -u "redis://no.such.host.invalid:$REDIS_PORT" -- true
  is 69 "$GOT"
  within 0 "$TOOK" 2600
}

@test "a resolver that never answers: --connect-timeout, -w and TERM end it" {
  private_hosts_or_skip
  begin dns python3 -I -S -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.53.7", 53))
print("up", flush=True); time.sleep(60)'
  wait_until 5 test -s "$T/dns.out" || skip 'port 53 can not be had'
  DNS=127.0.53.7
  with_hosts "" rl --connect-timeout 0.6 -u "redis://no.such.host.invalid:$REDIS_PORT" -- true
  is 69 "$GOT"
  within 500 "$TOOK" 1800
  with_hosts "" rl --connect-timeout 20 -w 0.7 -u "redis://no.such.host.invalid:$REDIS_PORT" -- true
  is 69 "$GOT"
  within 600 "$TOOK" 1800
  WITH=(begin a)
  with_hosts "" rl -w 60 --connect-timeout 60 -u "redis://no.such.host.invalid:$REDIS_PORT" -- true
  let_pass 400
  kill -TERM "$PID_a"
  status "$PID_a"
  is 143 "$GOT"
  within 0 "$TOOK" 700
}

# A path of N bytes that leads to the server's socket.
path_of() {
  local path=$T/
  while ((${#path} < $1 - 1)); do
    path+=x
  done
  path+=y
  ((${#path} == $1)) || { echo "$T is too long for this test"; return 1; }
  ln -s "$REDIS_SOCK" "$path"
  printf '%s\n' "$path"
}

@test "a socket's path of 107 bytes works, of 108 is refused, not cut" {
  local path
  path=$(path_of 107)
  timed rl -n -u "unix://$path" -- true
  is 0 "$GOT"
  timed rl -n -u "$path" -- true
  is 0 "$GOT"
  path=$(path_of 108)
  refused "unix://$path" '108 bytes.*107'
  refused "$path" '108 bytes.*107'
  path=$(path_of 200)
  refused "unix://$path" 200
  no_trace
}

@test "no socket, a stale socket, a file, a folder: 69 and one line" {
  local path
  python3 -I -S -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$T/stale"
  touch "$T/file"
  for path in "$T/stale" "$T/file" "$T" "$T/none" "$T/none/none"; do
    timed rl -n -u "unix://$path" -- touch "$T/ran"
    is "$path 69" "$path $GOT"
    within 0 "$TOOK" 600
    is 1 "$(wc -l <"$T/err")"
    said err "^rlock: $K: unix://$path: "
  done
  [ ! -e "$T/ran" ]
}

@test "a socket that may not be opened, as another user: 69 and why" {
  [[ $(id -u) -eq 0 ]] || skip 'becoming another user takes root'
  local dir
  dir=$(mktemp -d /tmp/rlock.XXXXXX)
  chmod 755 "$dir"
  cp "$RLOCK" "$dir/rlock"
  chmod 755 "$dir/rlock"
  chmod 700 "$REDIS_DIR"
  GOT=0
  (cd / && timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups \
    "$dir/rlock" -k "$K" -n -u "unix://$REDIS_SOCK" -- true) 2>"$T/err" || GOT=$?
  rm -rf "$dir"
  is 69 "$GOT"
  is 1 "$(wc -l <"$T/err")"
  said err 'Permission denied'
}

@test "something else than Redis: 69 and a guess, not a hang" {
  begin web python3 -I -S -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(9)
print(s.getsockname()[1], flush=True)
while True:
    c = s.accept()[0]; c.recv(4096); c.send(b"HTTP/1.1 400 Bad Request\r\n\r\n"); c.close()'
  wait_file "$T/web.out"
  timed rl -n -u "redis://127.0.0.1:$(cat "$T/web.out")" -- true
  is 69 "$GOT"
  within 0 "$TOOK" 2500
  said err 'not Redis'
}
