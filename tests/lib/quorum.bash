# shellcheck shell=bash
# quorum.bash: several independent servers, for the tests of a quorum.
#
#   load ../lib/rlock; load ../lib/quorum
#   setup_file()    { quorum_start 5; }
#   teardown_file() { quorum_stop; }
#
# RLOCK_URL names all of them; they are numbered from 1.

quorum_start() { # COUNT [SERVER ARGUMENTS...]
  local i count=$1
  shift
  QUORUM=''
  QUORUM_URL=''
  for ((i = 0; i < count; i++)); do
    redis_start "$@" || return 1
    QUORUM+=" $REDIS_DIR"
    QUORUM_URL+=" $RLOCK_URL"
  done
  RLOCK_URL=$QUORUM_URL
  export QUORUM QUORUM_URL RLOCK_URL
}

quorum_stop() {
  local dir
  for dir in $QUORUM; do
    REDIS_DIR=$dir REDIS_SOCK=$dir/sock redis_stop
  done
}

# on NUMBER FUNCTION...: one of redis.bash's, on that server.
on() {
  local dirs
  read -ra dirs <<<"$QUORUM"
  local REDIS_DIR=${dirs[$1 - 1]}
  # shellcheck disable=SC2034 # redis.bash reads it
  local REDIS_SOCK=$REDIS_DIR/sock
  shift
  "$@"
}

# url NUMBER: of that server.
url() {
  local urls
  read -ra urls <<<"$QUORUM_URL"
  echo "${urls[$1 - 1]}"
}

# each FUNCTION...: on every server.
each() {
  local i=0 dir
  for dir in $QUORUM; do on $((++i)) "$@" || return 1; done
}

# holders [KEY]: how many servers have the key.
holders() { each r exists "${1:-$L}" | grep -c 1 || true; }
