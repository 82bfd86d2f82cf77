#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds one test target and prints the path of its executable (see README.md).
#   build.sh VERSION PROFILE [rich|seats|cdylib]
# VERSION: a Tokio version of which locks/ has a lock file, its first two numbers, or "newest".
# Everything is built below build/targets; building again what is built costs a fraction of a second.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
musl=x86_64-unknown-linux-musl
profiles="debug release release-fp stripped stripped-unwind unstable nonpie relr
	debuginfo lto-fat lto-thin opt-s opt-z abort symstrip split-packed split-unpacked debuglink
	musl musl-stripped taskdump bfd lld mold icf-lld icf-mold"

die() {
	echo "build.sh: $1" >&2
	exit "${2:-2}"
}

versions() {
	for lock in "$here"/locks/tokio-*.lock; do
		basename "$lock" .lock | sed 's/^tokio-//'
	done | grep -v '[a-z]' | sort -V
}

[ $# -ge 1 ] || die "usage: build.sh VERSION PROFILE [rich|seats|cdylib] | build.sh --versions | --profiles"
case $1 in
--versions) versions; exit ;;
--profiles) printf '%s\n' $profiles; exit ;;
esac
[ $# -ge 2 ] || die "PROFILE is missing, one of: $(echo $profiles)"
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

# flags go to every crate, link to the last step alone: then the crates of "release" are used again
flags= link= target= variant= base= cargo_profile=release
unset CARGO_PROFILE_RELEASE_DEBUG || :
release() { # FIELD=VALUE...: the release profile with these fields of Cargo's [profile]
	for field; do export "CARGO_PROFILE_RELEASE_$field"; done
}
case $profile in
debug) cargo_profile=dev ;;
release) ;;
release-fp) cargo_profile=symbols flags="-Cforce-frame-pointers=yes" ;;
debuginfo) cargo_profile=symbols ;;
split-packed | split-unpacked) release DEBUG=2 "SPLIT_DEBUGINFO=${profile#split-}" ;;
stripped | stripped-unwind) cargo_profile=$profile ;;
musl-stripped) cargo_profile=stripped target=$musl ;;
musl) target=$musl ;;
lto-fat | lto-thin) release "LTO=${profile#lto-}" ;;
opt-s | opt-z) release "OPT_LEVEL=${profile#opt-}" ;;
abort) release PANIC=abort ;;
unstable) cargo_profile=symbols flags="--cfg tokio_unstable" ;;
taskdump) flags="--cfg tokio_unstable --cfg tokio_taskdump" variant=-taskdump ;;
nonpie) flags="-Crelocation-model=static" ;;
relr) flags="-Clink-arg=-Wl,-z,pack-relative-relocs" ;;
bfd | lld | mold) link="-Clink-arg=-fuse-ld=$profile" ;;
icf-lld | icf-mold) link="-Clink-arg=-fuse-ld=${profile#icf-} -Clink-arg=-Wl,--icf=all" ;;
symstrip) base=release ;;
debuglink) base=debuginfo ;;
*) die "$profile: no such profile, there are: $(echo $profiles)" ;;
esac
if [ -n "$target" ] && ! [ -d "$(rustc --print target-libdir --target "$target")" ]; then
	die "this rustc has no standard library for $target" 3
fi

case $what in
rich | seats) pick="--bin $what" made=$what name=$what-$version-$profile ;;
cdylib) pick="--lib" made=libtokio_ext.so name=libtokio_ext-$version-$profile.so ;;
*) die "$what: no such target, there are: rich seats cdylib" ;;
esac

# From some version on the dump of tasks is a feature, with a dependency more: a lock of its own.
locked=$here/locks/tokio-$version$variant.lock
if [ -n "$variant" ] && [ -f "$locked" ]; then
	lock=$locked feature='"taskdump",'
else
	variant= feature=
fi

pkg=$root/build/targets/$version$variant
out=$root/build/targets/bin
mkdir -p "$pkg" "$out"

# Kept when unchanged, so that cargo sees nothing new.
put() {
	if ! cmp -s "$1" "$2"; then
		cp "$1" "$2.$$"
		mv -f "$2.$$" "$2"
	fi
}

# Made from another build: its symbols or its debug information taken away.
if [ -n "$base" ]; then
	whole=$(sh "$0" "$version" "$base" "$what")
	if ! [ "$out/$name" -nt "$whole" ]; then
		cp "$whole" "$out/$name.$$"
		case $profile in
		symstrip) strip --strip-all "$out/$name.$$" ;;
		debuglink)
			objcopy --only-keep-debug "$whole" "$out/$name.debug"
			objcopy --strip-all --add-gnu-debuglink="$out/$name.debug" "$out/$name.$$"
			;;
		esac
		mv -f "$out/$name.$$" "$out/$name"
	fi
	echo "$out/$name"
	exit
fi

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
	"rt", "rt-multi-thread", "sync", "time", "net", "io-util",$feature
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

dir=$pkg/$profile
if [ -n "$link" ] && ! [ -d "$dir" ] && [ -d "$pkg/release" ]; then
	cp -a "$pkg/release" "$dir.$$"
	mv "$dir.$$" "$dir"
fi
case $cargo_profile in
dev) made=debug/$made ;;
*) made=$cargo_profile/$made ;;
esac
export RICH_TOKIO="$version" RICH_PROFILE="$profile" RUSTFLAGS="$flags"
unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET || :
log=$pkg/$profile.$what.log
# shellcheck disable=SC2086 # $pick and $link are several words
if ! (cd "$pkg" && cargo rustc --quiet --locked --target-dir "$dir" ${target:+--target "$target"} \
	--profile "$cargo_profile" $pick -- $link) >"$log" 2>&1; then
	cat "$log" >&2
	die "$name does not build" 1
fi
put "$dir/$target/$made" "$out/$name"
[ "$profile" != split-packed ] || put "$dir/$made.dwp" "$out/$name.dwp"
echo "$out/$name"
