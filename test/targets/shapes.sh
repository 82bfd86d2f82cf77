#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the target "shapes" on the newest Tokio and prints the path of its executable.
#   shapes.sh [release|stripped]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
profile=${1:-release}
case $profile in
release | stripped) ;;
*)
	echo "shapes.sh: $profile: no such profile, there are: release stripped" >&2
	exit 2
	;;
esac
command -v cargo >/dev/null || {
	echo "shapes.sh: no cargo: make deps installs it" >&2
	exit 1
}
out=$root/build/targets/shapes
mkdir -p "$out"
unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET CARGO_PROFILE_RELEASE_DEBUG || :
if ! RUSTFLAGS='' cargo build --quiet --locked --manifest-path "$here/shapes/Cargo.toml" \
	--target-dir "$out" --profile "$profile" >"$out/$profile.log" 2>&1; then
	cat "$out/$profile.log" >&2
	echo "shapes.sh: $profile does not build" >&2
	exit 1
fi
echo "$out/$profile/shapes"
