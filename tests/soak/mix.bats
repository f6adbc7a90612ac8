#!/usr/bin/env bats
# kinds.py tells what is done and how it is judged.

load soak

@test "a mix of all kinds, some killed: exclusion, slots, fences, expiry" { soak mix; }
