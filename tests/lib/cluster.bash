# shellcheck shell=bash
# cluster.bash: a cluster of three primaries, 1 to 3, each with a replica, 4 to
# 6, for the tests of cluster://.
#
#   load ../lib/rlock; load ../lib/cluster
#   setup_file()    { redis_start; cluster_start; }
#   teardown_file() { cluster_stop; redis_stop; }
#
# Nodes are known by their number; RLOCK_URL names the first three.

cluster_start() { # [SERVER ARGUMENTS...]
  local i
  CLUSTER=$(mktemp -d /tmp/rlock.XXXXXX)
  export CLUSTER
  for i in 1 2 3 4 5 6; do _cluster_node "$i" "$@" || return 1; done
  for i in 1 2 3; do
    n "$i" cluster addslotsrange $(((i - 1) * 5462)) $((i == 3 ? 16383 : i * 5462 - 1)) >/dev/null
  done
  for i in 2 3 4 5 6; do n 1 cluster meet 127.0.0.1 "$(port "$i")" >/dev/null; done
  wait_until 20 _cluster_met
  for i in 4 5 6; do
    wait_until 20 _cluster_replicates "$i" "$(n $((i - 3)) cluster myid)"
  done
  wait_until 20 cluster_ready
  RLOCK_URL=cluster://127.0.0.1:$(port 1),127.0.0.1:$(port 2),127.0.0.1:$(port 3)
  export RLOCK_URL
}

_cluster_node() {
  local i=$1 try
  shift
  mkdir -p "$CLUSTER/$i"
  for ((try = 0; try < 30; try++)); do
    # The port of its bus is 10000 above.
    echo $((10000 + (RANDOM << 4 ^ RANDOM) % 20000)) >"$CLUSTER/$i/port"
    printf '%s\0' "$@" >"$CLUSTER/$i/args"
    cluster_up "$i" && return 0
  done
  return 1
}

# cluster_up NUMBER: start it, or start it again, with what it knew.
cluster_up() {
  local i=$1 args=()
  mapfile -d '' -t args <"$CLUSTER/$i/args"
  [[ ${#args[@]} -eq 1 && -z ${args[0]} ]] && args=()
  (cd "$CLUSTER/$i" && exec "$SERVER" --port "$(port "$i")" --cluster-enabled yes \
    --cluster-node-timeout 1000 --save '' --appendonly no --logfile log \
    --repl-diskless-sync-delay 0 ${args[@]+"${args[@]}"}) </dev/null >/dev/null 2>&1 3>&- &
  echo $! >"$CLUSTER/$i/pid"
  wait_until 10 _cluster_answers "$i"
  [[ -d /proc/$(cat "$CLUSTER/$i/pid") ]] && _cluster_is_ours "$i"
}

_cluster_answers() {
  [[ $(n "$1" ping 2>&1) == *PONG* || $(n "$1" ping 2>&1) == *NOAUTH* ]] || _wait_ended "$(cat "$CLUSTER/$1/pid")"
}

_cluster_is_ours() {
  grep -qz -x -e "$(port "$1")" "/proc/$(cat "$CLUSTER/$1/pid")/cmdline" 2>/dev/null ||
    grep -qaz ":$(port "$1")" "/proc/$(cat "$CLUSTER/$1/pid")/cmdline" 2>/dev/null
}

cluster_stop() {
  local i
  for i in 1 2 3 4 5 6; do cluster_down "$i"; done
  rm -rf "$CLUSTER"
}

cluster_down() { # NUMBER
  local pid
  pid=$(cat "$CLUSTER/$1/pid" 2>/dev/null) || return 0
  _cluster_is_ours "$1" && kill -KILL "$pid"
  wait_gone "$pid"
  rm -f "$CLUSTER/$1/pid"
}

port() { cat "$CLUSTER/$1/port"; }

# n NUMBER WORDS...: redis-cli on that node.
n() {
  local i=$1
  shift
  "$REDIS_CLI" -h 127.0.0.1 -p "$(port "$i")" ${CLUSTER_AUTH:+--no-auth-warning -a "$CLUSTER_AUTH"} "$@"
}

# c WORDS...: on whatever node it belongs to.
c() { "$REDIS_CLI" -c -h 127.0.0.1 -p "$(port "${NODE:-1}")" "$@"; }

_cluster_met() {
  local i
  for i in 1 2 3 4 5 6; do
    [[ $(n "$i" cluster info | tr -d '\r' | sed -n 's/^cluster_known_nodes://p') == 6 ]] || return 1
  done
}

_cluster_replicates() { [[ $(n "$1" cluster replicate "$2") == OK ]]; }

cluster_ready() {
  local i
  for i in 1 2 3 4 5 6; do
    [[ -e $CLUSTER/$i/pid ]] || continue
    n "$i" cluster info | grep -q 'cluster_state:ok' || return 1
    [[ $(n "$i" cluster nodes | grep -c -e 'fail') == 0 ]] || return 1
  done
  for i in 4 5 6; do
    [[ ! -e $CLUSTER/$i/pid ]] || n "$i" info replication | grep -qE 'role:master|master_link_status:up' || return 1
  done
}

slot() { n 1 cluster keyslot "$1"; }

# owner SLOT: the number of the primary that has it, as NODE (1) says.
owner() {
  local i id
  id=$(n "${NODE:-1}" cluster nodes | awk -v slot="$1" '/master/ && !/fail/ {
    for (i = 9; i <= NF; i++) { split($i, r, "-"); if (r[2] == "") r[2] = r[1]
      if (slot + 0 >= r[1] + 0 && slot + 0 <= r[2] + 0) print $1 } }')
  for i in 1 2 3 4 5 6; do
    [[ $(n "$i" cluster myid 2>/dev/null) == "$id" ]] && echo "$i" && return 0
  done
  return 1
}

# migrate_begin SLOT FROM TO, migrate_keys, migrate_end
migrate_begin() {
  n "$3" cluster setslot "$1" importing "$(n "$2" cluster myid)" >/dev/null
  n "$2" cluster setslot "$1" migrating "$(n "$3" cluster myid)" >/dev/null
}

migrate_keys() {
  local key
  n "$2" cluster getkeysinslot "$1" 100 | while read -r key; do
    n "$2" migrate 127.0.0.1 "$(port "$3")" "$key" 0 5000 >/dev/null
  done
}

migrate_end() {
  local i id
  id=$(n "$3" cluster myid)
  n "$3" cluster setslot "$1" node "$id" >/dev/null
  n "$2" cluster setslot "$1" node "$id" >/dev/null
  for i in 1 2 3; do n "$i" cluster setslot "$1" node "$id" >/dev/null 2>&1 || true; done
}

migrate() {
  migrate_begin "$@"
  migrate_keys "$@"
  migrate_end "$@"
}
