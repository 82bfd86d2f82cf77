#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gets the shipped Tokio programs that the recorder is tested on from the npm registry, by name,
# version and checksum, into DIR, and prints "NAME PATH" for each. What is there already is kept.
#   shipped.sh DIR [NAME...]      names: biome biome-musl turbo deno
set -eu

die() {
	echo "shipped.sh: $1" >&2
	exit "${2:-1}"
}

[ $# -ge 1 ] || die "usage: shipped.sh DIR [biome|biome-musl|turbo|deno]..." 2
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- biome biome-musl turbo deno

for name in "$@"; do
	case $name in
	biome)
		package=@biomejs/cli-linux-x64@2.6.8 file=biomejs-cli-linux-x64-2.6.8.tgz member=biome
		sum=e9fc491ffec6ba4024549b7c797937cd4f01855b4fe66a78220efe83b95be7f1
		;;
	biome-musl)
		package=@biomejs/cli-linux-x64-musl@2.6.8 file=biomejs-cli-linux-x64-musl-2.6.8.tgz
		member=biome
		sum=b5b56b1784ff7b881027ac753396ac3ea6e4394d58e608b7d6fb14fc7b295d55
		;;
	turbo)
		package=@turbo/linux-64@2.11.11 file=turbo-linux-64-2.11.11.tgz member=bin/turbo
		sum=212cc3102cc921f2626e30650ad6f05e33d56943e65f8c0199a51e4f17eddfc5
		;;
	deno)
		package=@deno/linux-x64-glibc@2.9.6 file=deno-linux-x64-glibc-2.9.6.tgz member=deno
		sum=a6596af07f3570b4f1ffa6783bfee9942aac14a719a601baa6bf5b71bf0105e2
		;;
	*) die "$name: no such program, there are: biome biome-musl turbo deno" 2 ;;
	esac
	made=$dir/$package/$member
	if [ ! -x "$made" ]; then
		command -v npm >/dev/null || die "no npm: make deps installs it"
		npm pack --silent --pack-destination "$dir" "$package" >/dev/null ||
			die "$package: npm cannot fetch it"
		echo "$sum  $dir/$file" | sha256sum --check --quiet >&2 ||
			die "$file: not the file that was pinned"
		rm -rf "$dir/$package"
		mkdir -p "$dir/$package"
		tar -xzf "$dir/$file" -C "$dir/$package" --strip-components=1
		chmod +x "$made"
		rm -f "$dir/$file"
	fi
	echo "$name $made"
done
