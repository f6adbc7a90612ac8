# cover.awk MODEL DUMP OUTPUT: the lines of the model that no history reached.
# DUMP: of pan -d, all transitions; OUTPUT: of pan, with what was not reached.
# A line of an inline is reached when one of its copies is.
FNR == 1 { file++ }
file == 1 { text[FNR] = $0; next }
/^(unreached in )?(proctype|init|claim)/ { proc = $NF; next }
file == 2 && /-\(tr/ && match($0, /rlock\.pml:[0-9]+ =>/) {
	line = substr($0, RSTART + 10, RLENGTH - 13) + 0
	if (!((proc, line, $2) in known)) {
		known[proc, line, $2] = 1
		states[line]++
	}
}
file == 3 && /^\trlock\.pml:[0-9]+, state/ {
	match($0, /:[0-9]+/)
	line = substr($0, RSTART + 1, RLENGTH - 1) + 0
	state = $3 + 0
	if (!((proc, line, state) in out)) {
		out[proc, line, state] = 1
		missed[line]++
	}
}
END {
	for (line = 1; line in text; line++)
		if (missed[line] > 0 && missed[line] >= states[line]) {
			sub(/^[[:blank:]]+/, "", text[line])
			print "  rlock.pml:" line ": " text[line]
		}
}
