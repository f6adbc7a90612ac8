#!/bin/bash
# model.sh [--long]: check rlock.pml and kinds.pml by spin.
#
# Rows of kinds.pml begin with kinds-, and are checked in the same way.
#
# Three kinds of rows:
#   good   the protocol as it is: every property must hold, all states visited
#   bad    one line of it taken out (-DNO_...): the property that the line is
#          there for must fail, and no other one is looked at
#   limit  what the protocol as it is does not promise: must fail too; when it
#          no longer does, the row becomes a good one
# Without --long: less than 3 minutes on two cores, 2 GB.  With it the good rows
# that need more: ten minutes, 4 GB.  Environment: RLOCK_BUILD, JOBS,
# CC.  What each row said, and for a failed property its history (pan -r),
# stays in $RLOCK_BUILD/model/ROW/.
#
# Nothing here is an approximation: no bitstate, states are kept whole
# (-DCOLLAPSE packs them without loss).
set -u
export LC_ALL=C
model=$(cd "$(dirname "$0")" && pwd)
dir=${RLOCK_BUILD:-build}/model
jobs=${JOBS:-2}
((jobs > 2)) && jobs=2 # each may need 1 GB
memory=1000
[[ ${1:-} == --long ]] && jobs=1 memory=4000

if ! command -v spin >/dev/null; then
  echo 'model: spin is not installed (make deps)' >&2
  exit 69
fi

# The cut, silent and half connections make the most states.
all='CRASH FREEZE CUT SILENT HALF LOSE EXPIRE DELLOCK DELQUEUE REFUSE LEAVE TRY'

# KIND NAME PROPERTY DEFINES...
rows() {
  cat <<END
good  one-fault      all    N=3 MAXF=1 WAKE ${all/SILENT /}
good  two-faults     all    N=2 MAXF=2 COVER $all
good  live-2         live   N=2 MAXF=2 LTL CALM JUST ${all/ TRY/}
good  killed         all    N=3 MAXF=2 CRASH FREEZE EXPIRE
good  silent         all    N=3 MAXF=1 WAKE SILENT
good  live-3         live   N=3 MAXF=1 LTL CALM JUST CRASH FREEZE LOSE DELLOCK REFUSE LEAVE
good  live-3-killed  live   N=3 MAXF=2 LTL CALM JUST CRASH
good  abandoned      all    N=2 G=3 MAXF=2 SILENT HALF CUT
good  four           all    N=4 WAKE
good  more-dead      all    N=3 MAXF=1 BATCH=1 WAKE CRASH WAITERS_CRASH
good  leftovers      all    N=2 PHANTOM=2 PHANTOM_HOLDER WAKE
bad   NO_PROOF       mutex  N=3 MAXF=1 FREEZE
bad   NO_SENT_AT     mutex  N=2 MAXF=1 FREEZE
bad   NO_COMPARE     mutex  N=3 MAXF=1 FREEZE
bad   SAME_TOKEN     mutex  N=2 MAXF=1 SILENT
bad   NO_NUMSUB      wake   N=2 PHANTOM=2 PHANTOM_HOLDER
bad   DEAD_AFTER_FIT wake   N=2 PHANTOM=2 PHANTOM_HOLDER
bad   NO_FIRST       wake   N=3 MAXF=1 FREEZE
bad   NO_HEAD_TIMER  wake   N=2 MAXF=1 CRASH
bad   KEEP_ENTRY     wake   N=3 MAXF=1 FREEZE
bad   NO_MULTI       wake   N=3
bad   NO_TICKET      order  N=3
bad   TAKE_BLIND     order  N=3 MAXF=1 CRASH
bad   ZREM_FIRST     order  N=3 MAXF=1 REFUSE
bad   NO_BEHIND      twice  N=2 MAXF=1 SILENT
bad   NO_CLEAN       orphan N=2 MAXF=1 SILENT
bad   NO_TELL        orphan N=2 MAXF=1 LEAVE
bad   NO_SERVE       served N=2
bad   FREE_BLIND     served N=2
bad   NO_AGAIN       wake   N=3 MAXF=1 BATCH=1 CRASH WAITERS_CRASH
bad   LATER_TICKET   ticket N=2 MAXF=1 CUT
bad   RENEW_GT       ttl    N=2 MAXF=1 DELLOCK
bad   NO_OTHERS_LOOK live   N=3 MAXF=2 LTL CALM CRASH
good  kinds-mixed    all    N=4 MAXF=1 MIXED CRASH EXPIRE
good  kinds-slots    all    N=4 MAXF=2 CRASH EXPIRE
good  kinds-3-slots  all    N=5 SLOTS=3 MAXF=1 CRASH EXPIRE
bad   kinds-PASS_WRITER order MIXED N=3
bad   kinds-ROOM_BLIND mutex MIXED N=3
bad   kinds-ONE_READER served MIXED N=3
bad   kinds-NO_SERVE served MIXED N=2
bad   kinds-KEEP_ENTRY twice MIXED N=3
bad   kinds-NEWEST_END key  MIXED N=3 MAXF=1 CRASH
bad   kinds-ONE_MORE mutex  N=3
bad   kinds-KEEP_SLOT mutex N=4 MAXF=1 EXPIRE
bad   kinds-REVIVE   late   N=3 MAXF=1 EXPIRE
bad   kinds-DROP_OTHER late N=3 MAXF=1 EXPIRE
limit STRICT_ORDER   order  N=3
limit STRICT_TWICE   twice  N=2 MAXF=1 CUT
END
  [[ $memory == 1000 ]] || cat <<END
good  cut-killed     all    N=3 MAXF=2 CUT CRASH
good  four-killed    all    N=4 MAXF=1 WAKE CRASH
good  live-3-all     live   N=3 MAXF=1 LTL CALM JUST ${all/ TRY/}
END
}

# in_words: the names of ops, answers, messages and states for their numbers.
in_words() {
  awk '
    BEGIN {
      split("TAKE JOIN ASK RENEW FREE RELEASE", op)
      split("OURS LATE HELD HEAD FULL GONE", answer)
      split("FIRST GRANT LOOK", message)
      split("ASKING QUEUED PAUSING CLEANING LEAVING HOLDING RELEASING", state)
    }
    {
      for (i = 1; i < NF; i++) {
        n = $(i + 1) + 0
        if ($i == "op") sub("op " n, op[n])
        else if ($i == "answer") sub("answer " n, "answer " answer[n])
        else if ($i == "message") sub("message " n, "message " message[n])
        else if ($i == "state") sub("state " n, "state " state[n])
      }
      print
    }'
}

# check KIND NAME PROPERTY DEFINES...: one row; its line goes to ./line.
check() {
  local kind=$1 name=$2 property=$3 defines=("${@:4}")
  local flags=(-w -DCOLLAPSE -DMEMLIM="$memory")
  local run=(-m100000 -c1) level=() states seconds megabytes verdict found
  local file=rlock.pml
  [[ $kind == good ]] || defines+=("${name#kinds-}" JUST "${property^^}")
  [[ $name != kinds-* ]] || file=kinds.pml
  case " ${defines[*]} " in
  *' LTL '*) flags+=(-DNFAIR=4) run+=(-a -f) ;;
  *) flags+=(-DSAFETY) ;;
  esac
  case " ${defines[*]} " in *' COVER '*) level=(-o3) ;; esac
  # The sabotaged fail at once: the compiler's time counts.
  if [[ $kind == good ]]; then flags+=(-O2); else flags+=(-O0); fi
  cp "$model/$file" .
  {
    spin "${level[@]}" -DTELL "${defines[@]/#/-D}" -a "$file" &&
      "${CC:-gcc}" "${flags[@]}" -o pan pan.c && ./pan "${run[@]}"
  } >out 2>&1
  ./pan -d >transitions 2>&1

  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)
  seconds=$(sed -n 's/^pan: elapsed time \([0-9.e+]*\) seconds/\1/p' out)
  megabytes=$(sed -n 's/^ *\([0-9.]*\)\.[0-9]*\ttotal actual memory usage.*/\1/p' out)
  found=$(sed -n 's/^pan:1: assertion violated .*(\([a-z]*\)_broken).*/\1/p
    s/^pan:1: assertion violated .*(stuck).*/stuck/p
    s/^pan:1: acceptance cycle.*/live/p' out)
  verdict=FAILED
  if grep -qE 'errors: 0$' out; then
    if grep -qE 'max search depth too small|Search not completed' out; then
      found='not completed'
    else
      found=holds
      [[ $kind == good ]] && verdict=ok
    fi
  else
    [[ $kind != good && $found == "$property" ]] && verdict=ok
    ./pan -r >history.full 2>&1
    grep -E '^ *([0-9]+: |lock set|message|lease)' history.full | in_words >history
  fi
  printf '%-5s %-17s %-7s %-13s %10s %7s %5s  %s\n' "$kind" "$name" "$property" \
    "${found:-no verdict}" "${states:--}" "${seconds:--}" "${megabytes:--}" "$verdict" >line
  rm -f pan pan.?
}

rm -rf "$dir"
mkdir -p "$dir" || exit 71
dir=$(cd "$dir" && pwd)
while read -r row; do
  read -ra words <<<"$row"
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
  mkdir "$dir/${words[1]}"
  (cd "$dir/${words[1]}" && check "${words[@]}") &
done < <(rows)
wait

printf '%-5s %-17s %-7s %-13s %10s %7s %5s\n' kind row meant found states seconds MB
rows | while read -r _ name _; do
  cat "$dir/$name/line" 2>/dev/null || echo "$name: no verdict  FAILED"
done | tee "$dir/table"

# What no history reached, and may not be there for nothing.
missed=$(awk -f "$model/cover.awk" "$dir/two-faults/"{rlock.pml,transitions,out} |
  grep -vE ': (\}|:: PH -> |:: else -> qt\[REAL)|: (order|twice)_broken = 1')
echo "reached by none of two-faults:${missed:+
$missed}"

failed=$(grep -c 'FAILED$' "$dir/table")
echo "model: $(grep -c 'ok$' "$dir/table") as they must be, $failed not; $SECONDS s"
((failed == 0))
