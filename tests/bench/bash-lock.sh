#!/bin/bash
# bash-lock.sh unix:PATH|HOST:PORT KEY COMMAND...: the lock that one writes by
# hand with bash and redis-cli, done right as far as that goes: a random token,
# NX PX, compare and delete.  No renewal, no queue, no signals.  For the bench.
case $1 in
unix:*) server=(-s "${1#unix:}") ;;
*) server=(-h "${1%:*}" -p "${1##*:}") ;;
esac
key=$2
shift 2
token=$$-$RANDOM$RANDOM$RANDOM
until [[ $("${REDIS_CLI:-redis-cli}" "${server[@]}" SET "$key" "$token" NX PX 30000) == OK ]]; do
  sleep 0.1
done
"$@"
status=$?
"${REDIS_CLI:-redis-cli}" "${server[@]}" EVAL 'if redis.call("GET",KEYS[1])==ARGV[1] then
  return redis.call("DEL",KEYS[1]) end return 0' 1 "$key" "$token" >/dev/null
exit "$status"
