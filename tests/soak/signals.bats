#!/usr/bin/env bats
# soak.py tells what is done and how it is judged.

load soak

@test "TERM at any moment to holder and waiters: no process, key or entry left, nothing started after it" { soak signals; }
