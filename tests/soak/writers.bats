#!/usr/bin/env bats
# kinds.py tells what is done and how it is judged.

load soak

@test "a writer among a stream of readers comes in its turn" { soak writers; }
