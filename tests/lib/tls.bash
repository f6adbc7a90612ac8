# shellcheck shell=bash
# tls.bash: certificates, and servers that show them.
#
#   load ../lib/net; load ../lib/tls
#   setup_file() { certificates; }
#
# In $CERTS: ca.crt; NAME.crt and NAME.key of good (for localhost, 127.0.0.1 and
# ::1), old (the same, expired), other (for another name), client, and self
# (signed by itself).

_ossl() { openssl "$@" 2>/dev/null; }

_certificate() { # NAME SUBJECT_ALT_NAME [END]
  _ossl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" &&
    _ossl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr" &&
    _ossl ca -batch -notext -config ca.cnf -in "$1.csr" -out "$1.crt" \
      -extfile <(echo "subjectAltName=$2") -startdate 20200101000000Z \
      -enddate "${3:-20491231235959Z}"
}

certificates() {
  local here=DNS:localhost,IP:127.0.0.1,IP:::1
  CERTS=$(mktemp -d /tmp/rlock.XXXXXX) || return 1
  export CERTS
  cd "$CERTS" || return 1
  : >index
  echo 01 >serial
  cat >ca.cnf <<'END'
[ca]
default_ca = test
[test]
database = index
serial = serial
new_certs_dir = .
certificate = ca.crt
private_key = ca.key
default_md = sha256
policy = any
[any]
commonName = supplied
END
  _ossl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ca.key &&
    _ossl req -x509 -new -key ca.key -subj /CN=test-ca -days 2 -out ca.crt &&
    _certificate good "$here" && _certificate old "$here" 20210101000000Z &&
    _certificate other DNS:other.example && _certificate client DNS:client &&
    _ossl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out self.key &&
    _ossl req -x509 -new -key self.key -subj /CN=localhost \
      -addext "subjectAltName=$here" -days 2 -out self.crt
}

# tls_server NAME [SERVER ARGUMENTS...]: a server that shows NAME's certificate
# on a port of its own, ended with the test; sets TLS_PORT.
tls_server() {
  local name=$1 try
  shift
  for ((try = 0; try < 20; try++)); do
    TLS_PORT=$((10000 + (RANDOM << 4 ^ RANDOM) % 20000))
    begin "server$TLS_PORT" "$SERVER" --port 0 --tls-port "$TLS_PORT" --save '' \
      --tls-cert-file "$CERTS/$name.crt" --tls-key-file "$CERTS/$name.key" \
      --tls-ca-cert-file "$CERTS/ca.crt" --tls-auth-clients no --dir "$T" "$@"
    wait_until 10 _tls_up "$PID" && return 0
  done
  echo "no server with TLS: $(tail -3 "$T/server$TLS_PORT.out")"
  return 1
}

_tls_up() { # it listens, or is gone
  ! kill -0 "$1" 2>/dev/null || grep -q 'Ready to accept\|Server initialized' "$T/server$TLS_PORT.out"
}
