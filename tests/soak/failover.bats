#!/usr/bin/env bats
# failover.py tells what is done and how it is judged.

load soak

@test "failovers behind sentinels, with --replicas 1: exclusion, no false kill" { soak failover; }
