# embed.awk: src/lua/NAME.lua -> const char script_NAME[] in C.
# usage: awk -f embed.awk src/lua/prelude.lua src/lua/*.lua > script_data.c
#
# prelude.lua goes in front of a script whose opening comment says prelude:yes.
# Comments, leading blanks and empty lines are left out; long brackets are not
# supported.  A literal above 4095 bytes is beyond what C11 promises, so a
# longer script becomes a list of characters.

function strip(s,    i, n, c, quote) {
  sub(/^[ \t]+/, "", s)
  n = length(s)
  quote = ""
  for (i = 1; i <= n; i++) {
    c = substr(s, i, 1)
    if (quote != "") {
      if (c == "\\") i++
      else if (c == quote) quote = ""
    } else if (c == "\"" || c == "'") {
      quote = c
    } else if (c == "-" && substr(s, i + 1, 1) == "-") {
      if (substr(s, i + 2) ~ /^\[=*\[/) fail("long comment")
      s = substr(s, 1, i - 1)
      break
    } else if (c == "[" && substr(s, i) ~ /^\[=*\[/) {
      fail("long bracket")
    }
  }
  if (quote != "") fail("string not closed")
  sub(/[ \t\r]+$/, "", s)
  return s
}

function fail(why) {
  printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
  failed = 1
  exit 1
}

function escape(s) {
  gsub(/["\\]/, "\\\\&", s)
  gsub(/\t/, "\\t", s)
  gsub(/\?/, "\\?", s) # no trigraphs
  return s
}

function put(line) {
  lines[++count] = line
  bytes += length(line) + 1
}

function characters(s,    i, c, out) {
  out = "\t"
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    if (c == "\\" || c == "'") c = "\\" c
    else if (c == "\t") c = "\\t"
    out = out "'" c "',"
  }
  return out "'\\n',"
}

function flush_script(    i) {
  if (name == "") return
  printf "\nconst char script_%s[] =", name
  if (bytes <= 4095) {
    for (i = 1; i <= count; i++) printf "\n\t\"%s\\n\"", escape(lines[i])
    print (count ? ";" : " \"\";")
  } else {
    print " {"
    for (i = 1; i <= count; i++) print characters(lines[i])
    print "\t'\\0'\n};"
  }
}

BEGIN { print "#include \"core/script.h\"" }

FNR == 1 {
  flush_script()
  name = FILENAME
  sub(/.*\//, "", name); sub(/\.lua$/, "", name)
  count = 0; bytes = 0
  prelude = name == "prelude"
  if (prelude) {
    name = ""
    if (preludes) skip = 1 # named again by the glob
    preludes++
  } else {
    skip = 0
  }
}

skip { next }

!prelude && count == 0 && /^--.*prelude:yes/ {
  if (!preludes) fail("no prelude.lua to put in front")
  for (i = 1; i <= pre_count; i++) put(pre[i])
}

{
  line = strip($0)
  if (line == "") next
  if (prelude) pre[++pre_count] = line
  else put(line)
}

END {
  if (failed) exit 1
  flush_script()
}
