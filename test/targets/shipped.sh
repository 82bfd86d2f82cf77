#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gets the shipped Tokio programs that the recorder is tested on, by name, version and checksum,
# into DIR, and prints "NAME PATH" for each: the program, or the directory in which it lies for
# extensions of node and Python. What is there already is kept.
#   shipped.sh DIR [NAME...]      shipped.sh --names: all there are
# From npm and the Python index they come built; those of crates.io are compiled (1 to 3 minutes).
set -eu

npm="biome biome-musl turbo deno dprint ast-grep libsql rspack"
python="granian obstore uv"
crates="mini-redis bore dummyhttp dufs"
here=$(cd "$(dirname "$0")" && pwd)

die() {
	echo "shipped.sh: $1" >&2
	exit "${2:-1}"
}

needs() { command -v "$1" >/dev/null || die "no $1: make deps installs it"; }

[ $# -ge 1 ] || die "usage: shipped.sh DIR [NAME...] | --names" 2
if [ "$1" = --names ]; then
	echo "$npm $python $crates" | tr ' ' '\n'
	exit
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $npm $python $crates

# Packages of NAME, as shipped/npm.txt pins them, into DIR/node_modules.
npm_packages() { # NAME
	grep "^$1 " "$here/shipped/npm.txt" | while read -r _ package version sum; do
		into=$dir/node_modules/$package
		[ "$(cat "$into/.pinned" 2>/dev/null)" != "$sum" ] || continue
		needs npm
		tarball=$dir/$(echo "$package" | tr -d @ | tr / -)-$version.tgz
		npm pack --silent --pack-destination "$dir" "$package@$version" >/dev/null ||
			die "$package@$version: npm cannot fetch it"
		echo "$sum  $tarball" | sha256sum --check --quiet >&2 ||
			die "$tarball: not the file that was pinned"
		rm -rf "$into"
		mkdir -p "$into"
		tar -xzf "$tarball" -C "$into" --strip-components=1
		echo "$sum" >"$into/.pinned"
		rm -f "$tarball"
	done
}

# Python packages: what shipped/python.txt locks by hash, those of NAME, into DIR/python.
python_path() {
	made=$dir/python
	[ ! -f "$made/.done" ] || ! cmp -s "$here/shipped/python.txt" "$made/.done" || return 0
	python3 -m pip --version >/dev/null 2>&1 || die "python3 has no pip: make deps installs it"
	rm -rf "$made"
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
		--target "$made" --no-deps --only-binary :all: --require-hashes \
		-r "$here/shipped/python.txt" >&2 || die "pip cannot install what shipped/python.txt names"
	cp "$here/shipped/python.txt" "$made/.done"
}

crate() { # NAME VERSION PROGRAM
	made=$dir/crates/bin/$3
	[ ! -x "$made" ] || return 0
	needs cargo
	RUSTFLAGS='' cargo install --quiet --locked --root "$dir/crates" --target-dir "$dir/crates/target" \
		--version "$2" "$1" >"$dir/$1.log" 2>&1 || {
		tail -n 20 "$dir/$1.log" >&2
		die "$1: cargo cannot install it"
	}
}

for name in "$@"; do
	case $name in
	biome) made=@biomejs/cli-linux-x64/biome ;;
	biome-musl) made=@biomejs/cli-linux-x64-musl/biome ;;
	turbo) made=@turbo/linux-64/bin/turbo ;;
	deno) made=@deno/linux-x64-glibc/deno ;;
	dprint) made=@dprint/linux-x64-glibc/dprint ;;
	ast-grep) made=@ast-grep/cli-linux-x64-gnu/ast-grep ;;
	libsql | rspack) made=. ;;
	granian | obstore) python_path ;;
	uv)
		python_path
		made=$made/bin/uv
		;;
	mini-redis) crate mini-redis 0.4.1 mini-redis-server ;;
	bore) crate bore-cli 0.6.0 bore ;;
	dummyhttp) crate dummyhttp 1.1.3 dummyhttp ;;
	dufs) crate dufs 0.47.0 dufs ;;
	*) die "$name: no such program, there are: $npm $python $crates" 2 ;;
	esac
	case " $npm " in
	*" $name "*)
		npm_packages "$name"
		made=$dir/node_modules/$made
		[ "$made" != "$dir/node_modules/." ] || made=$dir
		;;
	esac
	[ -d "$made" ] || chmod +x "$made"
	echo "$name $made"
done
