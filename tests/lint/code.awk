# code.awk: C with comments and the insides of strings blanked, as
# FILE:LINE: TEXT, so that a grep over it sees code alone.

FNR == 1 { inside = "" }

{
  out = ""
  n = length($0)
  for (i = 1; i <= n; i++) {
    c = substr($0, i, 1)
    two = substr($0, i, 2)
    if (inside == "*") {
      if (two == "*/") { inside = ""; i++ }
    } else if (inside != "") {
      if (c == "\\") i++
      else if (c == inside) { inside = ""; out = out c }
    } else if (two == "/*") {
      inside = "*"; i++; out = out " "
    } else if (two == "//") {
      break
    } else {
      if (c == "\"" || c == "'") inside = c
      out = out c
    }
  }
  print FILENAME ":" FNR ": " out
}
