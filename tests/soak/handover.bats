#!/usr/bin/env bats
# soak.py tells what is done and how it is judged.

load soak

@test "hand-overs among 20: no overlap, nobody overtaken, none that waits for a look" { soak handover; }
