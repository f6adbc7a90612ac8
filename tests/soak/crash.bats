#!/usr/bin/env bats
# soak.py tells what is done and how it is judged.

load soak

@test "rlock killed at any moment: no process a second later, the lock free after the TTL" { soak crash; }
