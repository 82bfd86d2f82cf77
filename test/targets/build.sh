#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds one test target and prints the path of its executable (see README.md).
#   build.sh VERSION PROFILE [rich|seats|cdylib]
# VERSION: a Tokio version of which locks/ has a lock file, its first two numbers, or "newest".
# Everything is built below build/targets; building again what is built costs a fraction of a second.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
profiles="debug release release-fp stripped stripped-unwind unstable nonpie relr"

die() {
	echo "build.sh: $1" >&2
	exit "${2:-2}"
}

versions() {
	for lock in "$here"/locks/tokio-*.lock; do
		basename "$lock" .lock | sed 's/^tokio-//'
	done | sort -V
}

[ $# -ge 1 ] || die "usage: build.sh VERSION PROFILE [rich|seats|cdylib] | build.sh --versions | --profiles"
case $1 in
--versions) versions; exit ;;
--profiles) echo "$profiles" | tr ' ' '\n'; exit ;;
esac
[ $# -ge 2 ] || die "PROFILE is missing, one of: $profiles"
profile=$2
what=${3:-rich}
case $1 in
newest) version=$(versions | tail -n 1) ;;
*.*.*) version=$1 ;;
*) version=$(versions | grep "^$1\\." | tail -n 1) ;;
esac
lock=$here/locks/tokio-$version.lock
[ -f "$lock" ] || die "$1: no such Tokio version here, there are: $(versions | tr '\n' ' ')"
command -v cargo >/dev/null || die "no cargo: make deps installs it" 1

flags=
cargo_profile=release
case $profile in
debug) cargo_profile=dev ;;
release) ;;
release-fp) cargo_profile=symbols flags="-Cforce-frame-pointers=yes" ;;
stripped | stripped-unwind) cargo_profile=$profile ;;
unstable) cargo_profile=symbols flags="--cfg tokio_unstable" ;;
nonpie) flags="-Crelocation-model=static" ;;
relr) flags="-Clink-arg=-Wl,-z,pack-relative-relocs" ;;
*) die "$profile: no such profile, there are: $profiles" ;;
esac

case $what in
rich | seats) pick="--bin $what" made=$what name=$what-$version-$profile ;;
cdylib) pick="--lib" made=libtokio_ext.so name=libtokio_ext-$version-$profile.so ;;
*) die "$what: no such target, there are: rich seats cdylib" ;;
esac

pkg=$root/build/targets/$version
out=$root/build/targets/bin
mkdir -p "$pkg" "$out"

# Kept when unchanged, so that cargo sees nothing new.
put() {
	if ! cmp -s "$1" "$2"; then
		cp "$1" "$2.$$"
		mv -f "$2.$$" "$2"
	fi
}

tmp=$(mktemp "$pkg/manifest.XXXXXX")
trap 'rm -f "$tmp"' EXIT
cat >"$tmp" <<T
[package]
name = "rich"
version = "0.1.0"
edition = "2021"
publish = false

[lib]
name = "tokio_ext"
path = "$here/shared/tokio_ext.rs"
crate-type = ["cdylib"]
test = false
doctest = false

[[bin]]
name = "rich"
path = "$here/rich/rich.rs"

[[bin]]
name = "seats"
path = "$here/seats/seats.rs"

[dependencies]
libc = "0.2"
tokio = { version = "=$version", default-features = false, features = [
	"rt", "rt-multi-thread", "sync", "time", "net", "io-util",
] }

[lints.rust]
unexpected_cfgs = { level = "allow" }

[profile.symbols]
inherits = "release"
debug = 2

[profile.stripped-unwind]
inherits = "release"
lto = "fat"
codegen-units = 1
strip = "symbols"

[profile.stripped]
inherits = "stripped-unwind"
panic = "abort"

[workspace]
T
put "$tmp" "$pkg/Cargo.toml"
put "$lock" "$pkg/Cargo.lock"

case $cargo_profile in
dev) dir=debug ;;
*) dir=$cargo_profile ;;
esac
export RICH_TOKIO="$version" RICH_PROFILE="$profile" RUSTFLAGS="$flags"
unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET CARGO_PROFILE_RELEASE_DEBUG || :
log=$pkg/$profile.$what.log
if ! (cd "$pkg" && cargo build --quiet --locked --target-dir "$pkg/$profile" \
	--profile "$cargo_profile" $pick) >"$log" 2>&1; then
	cat "$log" >&2
	die "$name does not build" 1
fi
put "$pkg/$profile/$dir/$made" "$out/$name"
echo "$out/$name"
