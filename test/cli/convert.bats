# SPDX-License-Identifier: Apache-2.0
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; rm -rf out*; }

events() { "$VIEW" dump --json "$1" || true; }

@test "raw, gzip and zstd hold the same events" {
	for format in raw gzip zstd; do
		code 0 convert --to $format -o out.bin traces/abcd-42
		[ ! -s "$out" ] && [ ! -s "$err" ]
		cmp <(events out.bin) <(events traces/abcd-42)
		rm out.bin
	done
}
@test "gzip is one member of the raw bytes, zstd one frame" {
	code 0 convert --to raw -o out.raw traces/abcd-42
	code 0 convert --to gzip -o out.gz traces/abcd-42
	code 0 convert --to zstd -o out.zst traces/abcd-42
	gzip -dc out.gz | cmp - out.raw
	zstd -qdc out.zst | cmp - out.raw
	[ "$(python3 -c '
import sys, zlib
d = zlib.decompressobj(31)
d.decompress(open("out.gz", "rb").read())
print(d.eof, len(d.unused_data))')" = "True 0" ]
}
@test "a single file" {
	code 0 convert --to raw -o out.bin traces/efgh-43/trace.11.bin.gz
	cmp <(gzip -dc traces/efgh-43/trace.11.bin.gz) out.bin
}
@test "to standard output" {
	code 0 convert --to raw -o - batches.bin
	cmp "$out" batches.bin
}

@test "an existing file is kept, and replaced with --force" {
	echo precious >out.bin
	code 1 convert --to raw -o out.bin batches.bin
	grep -q "out.bin: exists already: give --force to replace it" "$err"
	[ "$(cat out.bin)" = precious ]
	code 0 convert --to raw --force -o out.bin batches.bin
	cmp out.bin batches.bin
	[ "$(stat -c %a out.bin)" = "$(printf %o $((0666 & ~$(umask))))" ]
}
@test "where nothing can be written, it says what to do" {
	code 1 convert --to raw -o batches.bin/x batches.bin
	grep -q "batches.bin/x: cannot write it: Not a directory: .*give --output another name" "$err"
	code 1 convert --to raw -o none/new batches.bin
	grep -q "none/new: .*: make its directory first" "$err"
	code 1 convert --to raw -o /proc/xx batches.bin
	grep -q "/proc/xx: .*: no file can be made there: give --output another place" "$err"
	code 1 convert --to raw --force -o . batches.bin
	grep -q "is a directory: give --output a file in it" "$err"
	for f in "convert --to raw" "export csv" "export html"; do
		code 1 $f -o /dev/full batches.bin
		grep -q "/dev/full: cannot write it: No space left on device: make room there" "$err"
		[ "$(wc -l <"$err")" = 1 ]
	done
	[ -c /dev/full ]
}
@test "a device and a pipe are written to as they are" {
	mkfifo pipe
	cat pipe >out.piped &
	code 0 convert --to raw -o pipe batches.bin
	wait $!
	cmp out.piped batches.bin
	[ -p pipe ]
	code 0 export csv --force -o /dev/null batches.bin
	[ -c /dev/null ]
	code 2 export sqlite -o /dev/null batches.bin
	grep -q "sqlite needs a file" "$err"
}

@test "nothing is left behind on failure" {
	mkdir out
	code 3 convert --to raw -o out/new empty.bin
	code 3 convert --to raw -o out/new /etc/passwd
	code 1 convert --to raw -o out/none/new batches.bin
	[ -z "$(ls out)" ]
}
@test "a cut tail ends at the last whole event; the rest is a legal trace" {
	code 3 convert --to raw -o out.bin cut.bin
	grep -q "input ends in the middle of a frame" "$err"
	code 0 verify out.bin
	cmp <(events out.bin) <(events cut.bin 2>/dev/null)
	code 0 convert --to raw --force -o out.bin cut.bin.active
	code 0 verify out.bin
}
@test "every cut of a trace becomes a legal trace" {
	size=$(stat -c %s cut.bin)
	for ((i = 200; i < size; i += 11)); do
		head -c "$i" cut.bin >part.bin
		[[ $(status_of "$VIEW" convert --to raw --force -o out.bin part.bin) =~ ^[03]$ ]]
		[ ! -e out.bin ] && continue # no event in it
		"$VIEW" dump --json out.bin >out.json 2>err || { echo "cut at $i"; cat err; return 1; }
		cmp out.json <(events part.bin 2>/dev/null) || { echo "cut at $i"; return 1; }
		rm -f out.bin
	done
}
