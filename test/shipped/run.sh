#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make shipped`: records every shipped program at work, prints the table, and puts it into
# README.md between its markers when all are well.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
rows=$BUILD/shipped/rows table=$BUILD/shipped/table.md
[ "$(id -u)" = 0 ] || { echo 'shipped: needs root'; exit 1; }
rm -rf "$rows"
status=0
bats test/e2e/shipped.bats test/shipped/more.bats || status=1
{
	echo '| program | from | Tokio | polls | nested, blocking | wakes | ends inferred | task taken on first | unexplained | task word | verify |'
	echo '|---|---|---|---|---|---|---|---|---|---|---|'
	cat "$rows"/*
} >"$table"
cat "$table"
[ $status = 0 ] || exit 1
awk -v table="$table" '
	/<!-- shipped: end -->/ { inside = 0 }
	!inside { print }
	/<!-- shipped: begin/ { inside = 1; while ((getline line < table) > 0) print line }' README.md >"$BUILD/shipped/README.md"
cat "$BUILD/shipped/README.md" >README.md
