#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gets the published source of crate dial9-viewer, with dial9's own readers in it, and prints where
# they lie. Nothing of it is built, and nothing copied: cargo keeps it in its registry folder.
#   toolkit.sh            "toolkit DIR" (node DIR/analyze.js TRACE...) and "demo FILE" (a gzip trace)
#   toolkit.sh toolkit    that one's path alone; likewise toolkit.sh demo
#   toolkit.sh old-demo   a trace of dial9 0.3, from the crate of that time
set -eu

here=$(cd "$(dirname "$0")" && pwd)
pkg=$(cd "$here/../.." && pwd)/build/targets/toolkit
version=0.5.7
if [ "${1:-}" = old-demo ]; then
	version=0.3.10 pkg=$pkg-old
fi

die() {
	echo "toolkit.sh: $1" >&2
	exit "${2:-1}"
}

command -v cargo >/dev/null || die "no cargo: make deps installs it"
mkdir -p "$pkg"
cat >"$pkg/Cargo.toml" <<T
[package]
name = "toolkit"
version = "0.1.0"
edition = "2021"
publish = false

[lib]
path = "toolkit.rs"

[dependencies]
dial9-viewer = { version = "=$version", default-features = false }

[workspace]
T
: >"$pkg/toolkit.rs"
cp "$here/locks/dial9-viewer-$version.lock" "$pkg/Cargo.lock"
cd "$pkg"
if ! cargo fetch --quiet --locked --target x86_64-unknown-linux-gnu >fetch.log 2>&1; then
	cat fetch.log >&2
	exit 1
fi
manifest=$(cargo metadata --locked --offline --format-version 1 \
	--filter-platform x86_64-unknown-linux-gnu |
	jq -r '.packages[] | select(.name == "dial9-viewer") | .manifest_path')
source=$(dirname "$manifest")
if [ "${1:-}" = old-demo ]; then
	[ -f "$source/ui/demo-trace.bin" ] || die "$source: the trace is not there"
	echo "$source/ui/demo-trace.bin"
	exit
fi
toolkit=$source/skills/dial9-toolkit/scripts demo=$source/ui/dist/demo-trace.bin
[ -f "$toolkit/analyze.js" ] && [ -f "$demo" ] || die "$source: the files are not there"
case ${1:-} in
'') printf 'toolkit %s\ndemo %s\n' "$toolkit" "$demo" ;;
toolkit) echo "$toolkit" ;;
demo) echo "$demo" ;;
*) die "$1: toolkit, demo or old-demo" 2 ;;
esac
