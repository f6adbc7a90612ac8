#!/usr/bin/env bats
# TLS: what is trusted, what is not, and what is said of it.

load ../lib/net
load ../lib/tls

setup_file() { redis_start --tcp && certificates; }
teardown_file() { redis_stop; rm -rf "$CERTS"; }
setup() {
  net_setup
  cd "$CERTS" || return 1
}
teardown() { net_teardown; }

# over PORT [OPTIONS...]: run a command by localhost and that port.
over() { timed rl -u "rediss://localhost:$1" "${@:2}" -- touch "$T/ran"; }

refused() { # STATUS PATTERN: so, and the command has not run
  is "$1" "$GOT"
  said err "$2"
  [ ! -e "$T/ran" ]
}

@test "the name, and the address, that the certificate is for" {
  tls_server good
  for host in localhost 127.0.0.1; do
    timed rl -u "rediss://$host:$TLS_PORT" --tls-cacert ca.crt -- true
    is 0 "$GOT"
    is '' "$(cat "$T/err")"
  done
}

@test "waiting, renewing, handed over, released: as ever" {
  tls_server good
  hold h -u "rediss://localhost:$TLS_PORT" --tls-cacert ca.crt -t 600ms
  begin w rl -u "rediss://localhost:$TLS_PORT" --tls-cacert ca.crt -w 20 -- true
  let_pass 1500
  kill -0 "$PID_h"
  finish h 0
  status "$PID_w"
  is 0 "$GOT"
  status "$PID_h"
  is 0 "$GOT"
}

@test "TLS 1.2 and 1.3, nothing older" {
  tls_server good --tls-protocols TLSv1.2
  over "$TLS_PORT" --tls-cacert ca.crt
  is 0 "$GOT"
  rm "$T/ran"
  tls_server good --tls-protocols TLSv1.3
  over "$TLS_PORT" --tls-cacert ca.crt
  is 0 "$GOT"
}

@test "not by whom we trust: 69, and how to say whom" {
  tls_server good
  over "$TLS_PORT"
  refused 69 'certificate is not to be trusted: .*\(--tls-cacert FILE says whom to trust\)'
  tls_server self
  over "$TLS_PORT" --tls-cacert ca.crt
  refused 69 'not to be trusted: self.signed certificate'
}

@test "expired, or for another name: 69" {
  tls_server old
  over "$TLS_PORT" --tls-cacert ca.crt
  refused 69 'not to be trusted: certificate has expired'
  tls_server other
  over "$TLS_PORT" --tls-cacert ca.crt
  refused 69 'not to be trusted: .*mismatch \(it is for another server'
  timed rl -u "rediss://127.0.0.1:$TLS_PORT" --tls-cacert ca.crt -- touch "$T/ran"
  refused 69 'not to be trusted: IP address mismatch'
}

@test "not checked when that is asked for, and said so each time" {
  tls_server other
  over "$TLS_PORT" --tls-insecure
  is 0 "$GOT"
  said err 'is not checked: anybody may answer in its place \(--tls-insecure\)'
}

@test "a server that asks for a certificate" {
  tls_server good --tls-auth-clients yes
  over "$TLS_PORT" --tls-cacert ca.crt
  refused 69 'certificate'
  over "$TLS_PORT" --tls-cacert ca.crt --tls-cert client.crt --tls-key client.key
  is 0 "$GOT"
}

@test "TLS to a plain port, and plain to a TLS port, are named" {
  over "$REDIS_PORT" --tls-cacert ca.crt --connect-timeout 0.7
  refused 69 'speak TLS on this port|TLS'
  tls_server good
  timed rl -u "redis://localhost:$TLS_PORT" --connect-timeout 0.7 -- touch "$T/ran"
  refused 69 'TLS'
}

@test "a handshake that hangs is bounded, and a signal ends it" {
  begin hang python3 -I -S -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(9)
print(s.getsockname()[1], flush=True)
keep = []
while True: keep.append(s.accept())'
  wait_file "$T/hang.out"
  over "$(cat "$T/hang.out")" --tls-cacert ca.crt --connect-timeout 0.4
  refused 69 'no answer to the TLS handshake in time'
  within 300 "$TOOK" 1500
  begin a rl -u "rediss://127.0.0.1:$(cat "$T/hang.out")" --tls-cacert ca.crt -w 30 -- true
  let_pass 200
  kill -TERM "$PID_a"
  status "$PID_a"
  is 143 "$GOT"
}

@test "files that are not there, or not what they should be: 64" {
  tls_server good
  over "$TLS_PORT" --tls-cacert none.crt
  refused 64 "option --tls-cacert: 'none.crt': No such file"
  over "$TLS_PORT" --tls-cacert ca.key
  refused 64 "option --tls-cacert: 'ca.key'"
  over "$TLS_PORT" --tls-cacert ca.crt --tls-cert client.crt --tls-key good.key
  refused 64 "option --tls-key: 'good.key'"
}

@test "without libssl: 69, and what is missing" {
  mkdir "$T/lib"
  : >"$T/lib/libssl.so.3" # found first, and no library
  : >"$T/lib/libssl.so.1.1"
  timed env LD_LIBRARY_PATH="$T/lib" "$RLOCK" -k "$K" -u rediss://localhost:1 -- touch "$T/ran"
  refused 69 'TLS needs OpenSSL'
}

@test "a plain run maps no libssl" {
  traced "$T/trace" openat "$RLOCK" -k "$K" -- true
  unsaid 'libssl|libcrypto' "$T/trace"
}

@test "a build without TLS says so; the rest of it works" {
  make -s -C "$RLOCK_TESTS/.." B="$T/build" TLS=0 CFLAGS=-O0 >/dev/null
  GOT=0
  "$T/build/rlock" -k "$K" -u rediss://localhost:1 -- true 2>"$T/err" || GOT=$?
  is 69 "$GOT"
  said err 'built without TLS'
  "$T/build/rlock" -k "$K" -- true
}

@test "clusters://: a node of a cluster, over TLS, with a password" {
  local cli url
  tls_server good --cluster-enabled yes --requirepass p --cluster-node-timeout 1000 --tls-cluster yes
  cli=("$REDIS_CLI" --tls --cacert "$CERTS/ca.crt" -h localhost -p "$TLS_PORT" -a p --no-auth-warning)
  "${cli[@]}" cluster addslotsrange 0 16383 >/dev/null
  wait_until 10 _serves "${cli[@]}"
  # It knows no address of its own: the one it was asked at serves.
  url=localhost:$TLS_PORT
  timed rl -u "clusters://:p@$url" --tls-cacert "$CERTS/ca.crt" -- true
  is 0 "$GOT"
  timed rl -u "clusters://:wrong@$url" --tls-cacert "$CERTS/ca.crt" -n -- touch "$T/ran"
  [[ $GOT == 77 || $GOT == 69 ]]
  timed rl -u "clusters://:p@$url" -n -- touch "$T/ran"
  is 69 "$GOT"
  timed rl -u "cluster://:p@$url" --connect-timeout 1 -n -- touch "$T/ran"
  is 69 "$GOT"
  [ ! -e "$T/ran" ]
}

_serves() { "$@" cluster info | grep -q cluster_state:ok; }
