#!/usr/bin/env bats
# cluster.py tells what is done and how it is judged.

load soak

@test "a slot that moves, and failovers, under ten contenders: exclusion, all are served" { soak cluster; }
