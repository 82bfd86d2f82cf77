#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds dial9check, the reader on dial9's own decoder, and prints the path of its executable.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$here/../.." && pwd)/build/targets/dial9check
command -v cargo >/dev/null || {
	echo "dial9check.sh: no cargo: make deps installs it" >&2
	exit 1
}
mkdir -p "$out"
if ! cargo build --quiet --release --locked --manifest-path "$here/dial9check/Cargo.toml" \
	--target-dir "$out" >"$out/build.log" 2>&1; then
	cat "$out/build.log" >&2
	exit 1
fi
echo "$out/release/dial9check"
