# layers.awk: check every #include of src/ against src/layers.
# usage: awk -f layers.awk src/layers src/*/*.[ch]   (run at the top)

function glob(pattern, text) { # * at the end (or before >) is any rest
  if (pattern ~ />$/) {
    if (text !~ />$/) return 0
    sub(/>$/, "", pattern); sub(/>$/, "", text)
  }
  if (pattern ~ /\*$/)
    return index(text, substr(pattern, 1, length(pattern) - 1)) == 1
  return pattern == text
}

function complain(what) {
  printf "%s:%d: %s\n", FILENAME, FNR, what
  bad = 1
}

FNR == NR { # the rules
  sub(/#.*/, "")
  if (NF == 0) next
  if ($1 == "layer") {
    sub(/:$/, "", $2)
    known[$2] = 1
    for (i = 3; i <= NF; i++) {
      if (!($i in known)) complain("layer " $i " is not known yet: upward?")
      may[$2, $i] = 1
    }
  } else if (($1 == "never" || $1 == "only") && NF == 3) {
    kind[++rules] = $1; from[rules] = $2; to[rules] = $3
  } else
    complain("not a rule: " $0)
  next
}

FNR == 1 { # a file: src/LAYER/MODULE.c
  module = FILENAME
  sub(/^src\//, "", module); sub(/\.[ch]$/, "", module)
  layer = module
  sub(/\/.*/, "", layer)
  if (!(layer in known)) complain("layer " layer " is not in src/layers")
}

/^[ \t]*#[ \t]*include/ {
  line = $0
  if (match(line, /<[^>]*>/)) {
    target = substr(line, RSTART, RLENGTH)
  } else if (match(line, /"[^"]*"/)) {
    header = substr(line, RSTART + 1, RLENGTH - 2)
    target = header
    sub(/\.h$/, "", target)
    if (split(header, part, "/") != 2 || !(part[1] in known)) {
      complain("\"" header "\": write it as \"layer/module.h\"")
      next
    }
    if (part[1] != layer && !((layer, part[1]) in may))
      complain(module " -> " target ": " layer " may not include " part[1])
  } else {
    complain("an include that is neither \"...\" nor <...>")
    next
  }
  for (i = 1; i <= rules; i++)
    if (glob(to[i], target) && glob(from[i], module) == (kind[i] == "never"))
      complain(module " -> " target ": src/layers says " \
        kind[i] " " from[i] " " to[i])
}

END { exit bad }
