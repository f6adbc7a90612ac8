#!/usr/bin/env bats
# redlock.py tells what is done and how it is judged.

load soak

@test "five servers, up to two of them killed, frozen, restarted: exclusion" { soak redlock; }
