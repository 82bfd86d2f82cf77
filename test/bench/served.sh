#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds served, the server with dial9's own recorder inside, and prints the path of its executable.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$here/../.." && pwd)/build/targets/served
command -v cargo >/dev/null || {
	echo "served.sh: no cargo: make deps installs it" >&2
	exit 1
}
mkdir -p "$out"
if ! RUSTFLAGS="--cfg tokio_unstable" cargo build --quiet --release --locked \
	--manifest-path "$here/served/Cargo.toml" --target-dir "$out" >"$out/build.log" 2>&1; then
	cat "$out/build.log" >&2
	exit 1
fi
echo "$out/release/served"
