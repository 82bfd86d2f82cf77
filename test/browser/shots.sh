#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make shots: the pictures of README.md, of a made trace, below viewer/page/shots/. Of 128 colours
# each, since they are in the repository; in the font Inter where there is one (fonts-inter).
MOST=200000
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
export PAGE_MODULES=viewer/page/node_modules
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$dir"' EXIT
command -v pngquant >/dev/null || { echo 'shots.sh: no pngquant: apt-get install pngquant fonts-inter' >&2; exit 1; }
mkdir -p "$dir/shop" viewer/page/shots
"$BUILD/test/bench/make_big" "$dir/shop" 400000 8 >/dev/null
XDG_CACHE_HOME=$dir/cache "$BUILD/dial9-view" serve --json "$dir/shop" >"$dir/url" 2>"$dir/err" </dev/null &
server=$!
url=
for _ in $(seq 100); do
	url=$(jq -r .url "$dir/url" 2>/dev/null || true)
	[ -z "$url" ] || break
	sleep 0.1
done
HOME=$dir node test/browser/shots.mjs "$url" viewer/page/shots
for f in viewer/page/shots/*.png; do
	pngquant --force --strip --speed 1 --output "$f" 128 "$f"
	[ "$(stat -c %s "$f")" -le $MOST ] || { echo "shots.sh: $f is more than $MOST bytes" >&2; exit 1; }
done
ls -l viewer/page/shots
