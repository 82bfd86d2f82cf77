#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Shipped programs that `make test` has no time for: larger ones, and crates compiled by cargo
# install. Run by `make shipped`.

load ../e2e/helpers
load ../e2e/shipped

@test "rspack: a bundler as an extension of node" {
	recorded_at_work rspack 1.48 'npm, node extension'
}

@test "uv: installs 400 packages" {
	recorded_at_work uv 1.53 PyPI
}

@test "mini-redis: a server" {
	recorded_at_work mini-redis 1. 'cargo install'
}

@test "bore: both ends of a tunnel" {
	recorded_at_work bore 1. 'cargo install'
}

@test "dummyhttp: an HTTP server" {
	recorded_at_work dummyhttp 1. 'cargo install'
}

@test "dufs: a file server" {
	recorded_at_work dufs 1. 'cargo install'
}
