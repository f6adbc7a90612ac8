# count.awk: TAP files -> how many tests passed and failed; status 1 when one
# failed, or was skipped where -v strict=1 says that none may be; a reason that
# matches -v allowed (an ERE) may be.
#
# Tests that were planned and not seen count as failed, as does a file that
# ends badly without a failed test.

function close_file() {
  if (file == "") return
  if (planned > seen) { missing = planned - seen; failures += missing }
  if (!planned_known || (code != 0 && failures == 0)) failures++
  failed += failures
}

FNR == 1 {
  close_file()
  file = FILENAME
  planned = seen = failures = code = planned_known = 0
}

/^1\.\.[0-9]+/ { planned = substr($1, 4) + 0; planned_known = 1 }

/^(not )?ok( |$)/ {
  seen++
  if (/^not ok/) failures++
  else if (tolower($0) ~ /# *skip/) {
    skipped++
    if (strict && !(allowed && $0 ~ allowed)) { failures++; print "skipped: " file ": " $0 }
  } else passed++
}

/^# exit [0-9]+$/ { code = $3 }

END {
  close_file()
  if (skipped) print skipped " skipped"
  print passed + 0 " passed, " failed + 0 " failed"
  exit failed > 0
}
