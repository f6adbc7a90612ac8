#!/usr/bin/env bats
# soak.py tells what is done and how it is judged.

load soak

@test "server frozen or cut off: the command is dead before the lease ends on the server, every time" { soak partition; }
