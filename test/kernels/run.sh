#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Other kernels than this machine's: is what is recorded there equal to the program's own log?
#   run.sh [--short] [MINOR...]           make kernels; make kernels KERNELS="6.1"
# Each kernel that apt has here (the newest of each minor release, of the small flavour for virtual
# machines) is started by qemu, without a disk, on an initial file system with the two programs and a
# Tokio program; kernels/init.sh runs there. One TAP line a kernel, then the grid; a run of all
# writes the table of README.md. --short takes the oldest: the one without uprobe_multi.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C.UTF-8
BUILD=${BUILD:-build}
OUT=$BUILD/kernels
LIMIT=600 # seconds for one machine: emulated, it is 10 to 30 times slower than this one
short=0 wanted=()
for arg; do
	case $arg in --short) short=1 ;; *) wanted+=("$arg") ;; esac
done

fail() {
	echo "kernels: $*" >&2
	exit 1
}
for tool in qemu-system-x86_64 busybox cpio apt-get; do
	command -v $tool >/dev/null || fail "no $tool: run 'make deps'"
done

packages() { # MINOR PACKAGE, the newest of each minor release, oldest first
	apt-cache search --names-only '^linux-image-(unsigned-)?[0-9]+\.[0-9]+\.[0-9].*-(cloud-amd64|cloud-amd64-unsigned|generic)$' |
		awk '{ print $1 }' | grep -v -e -dbg | sort -V | awk '{
			v = $1; sub(/^linux-image-(unsigned-)?/, "", v); split(v, n, ".")
			is_signed = $1 !~ /unsigned/
			key = n[1] "." n[2]
			# what is not signed is the same kernel, some days ahead of the signed one
			if (!(key in name)) order[++cnt] = key
			if (is_signed || !(key in signed)) name[key] = $1
			if (is_signed) signed[key] = 1
		} END { for (i = 1; i <= cnt; i++) print order[i], name[order[i]] }'
}

download() { apt-get -o APT::Sandbox::User=root -o Acquire::Retries=3 download "$1"; } # PACKAGE
fetch() { # MINOR PACKAGE: its kernel, as $OUT/vmlinuz-MINOR
	local dir=$OUT/package-$1
	[ -s "$OUT/vmlinuz-$1" ] && return
	rm -rf "$dir" && mkdir -p "$dir" || return
	(cd "$dir" && { download "$2" || { apt-get update && download "$2"; }; } >log 2>&1 && dpkg -x ./*.deb .) &&
		cp "$dir"/boot/vmlinuz-* "$OUT/vmlinuz-$1" || { cat "$dir/log" >&2; return 1; }
	rm -rf "$dir"
}

put() { # PROGRAM NAME: with the libraries that it needs
	local lib
	cp -L "$1" "$OUT/root/bin/$2"
	ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r lib; do
		mkdir -p "$OUT/root${lib%/*}" && cp -nL "$lib" "$OUT/root$lib"
	done
}
make_initrd() {
	local target
	target=$(sh test/targets/build.sh newest stripped) || fail 'the Tokio program was not built'
	rm -rf "$OUT/root"
	mkdir -p "$OUT/root"/{bin,proc,sys,dev,tmp,run,var/lib} || exit 1
	put "$(command -v busybox)" busybox
	put "$BUILD/dial9-agent" dial9-agent
	put "$BUILD/dial9-view" dial9-view
	put "$BUILD/test/e2e/codebytes" codebytes
	put "$target" target
	install -m 0755 test/kernels/init.sh "$OUT/root/init"
	(cd "$OUT/root" && find . | cpio -o -H newc --quiet | gzip -1) >"$OUT/initrd.gz"
}

boot() { # MINOR: runs init.sh there; what it hands back is in $OUT/MINOR
	local accel=tcg,thread=multi
	[ -w /dev/kvm ] && grep -qE -m1 '\b(vmx|svm)\b' /proc/cpuinfo && accel=kvm
	rm -rf "${OUT:?}/$1" && mkdir -p "$OUT/$1"
	timeout "$LIMIT" qemu-system-x86_64 -M q35 -accel $accel -cpu max -smp 2 -m 1024 -nodefaults \
		-display none -no-reboot -kernel "$OUT/vmlinuz-$1" -initrd "$OUT/initrd.gz" \
		-append 'console=ttyS0 quiet panic=-1' \
		-serial "file:$OUT/$1/console" -serial "file:$OUT/$1/out.tar" >"$OUT/$1/qemu" 2>&1 </dev/null ||
		{ echo "the machine did not end within $LIMIT s"; return 1; }
	tar x -f "$OUT/$1/out.tar" -C "$OUT/$1" 2>/dev/null && [ -s "$OUT/$1/facts" ] ||
		{ echo 'nothing came back'; return 1; }
}
fact() { # MINOR NAME
	sed -n "s/^$2 //p" "$OUT/$1/facts"
}
judge() { # MINOR: prints what is wrong
	local bad=0 name
	for name in doctor target agent verify killed left; do
		[ "$(fact "$1" $name)" = 0 ] || { echo "$name: $(fact "$1" $name)"; bad=1; }
	done
	"$BUILD/dial9-view" dump --json "$OUT/$1/full" |
		python3 test/e2e/truth.py "$OUT/$1/truth" >"$OUT/$1/count" || { cat "$OUT/$1/count"; bad=1; }
	return $bad
}
row() { # MINOR RESULT, for the table
	local multi=no filter=no
	grep -q '^ok .*one link for many uprobes' "$OUT/$1/doctor" && multi=yes
	grep -q '^ok .*its pid filter sees every thread' "$OUT/$1/doctor" && filter=yes
	printf '| %s | %s | %s | %s | %s | %s |\n' "$(fact "$1" release)" $multi $filter \
		"$(sed -n 's/.*polls \([0-9]*\) (own log.*/\1/p' "$OUT/$1/count" | head -n 1)" \
		"$(sed -n 's/.*, lost \([0-9]*\);.*/\1/p' "$OUT/$1/count" | head -n 1)" "$2"
}

mkdir -p "$OUT" || exit 1
make_initrd
mapfile -t list < <(packages)
if [ ${#list[@]} = 0 ]; then # no lists, or old ones
	apt-get update >/dev/null 2>&1
	mapfile -t list < <(packages)
fi
[ ${#list[@]} -gt 0 ] || fail "apt has no kernel of the small flavour for virtual machines here"
[ $short = 0 ] || list=("${list[0]}")
chosen=()
for line in "${list[@]}"; do
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" ${line% *} "* ]] || continue
	chosen+=("$line")
done
[ ${#chosen[@]} -gt 0 ] || fail "none of ${wanted[*]}; apt has: ${list[*]% *}"
echo "1..${#chosen[@]}"
nr=0 failed=0 table=()
for line in "${chosen[@]}"; do
	minor=${line% *} nr=$((nr + 1))
	if why=$(fetch "$minor" "${line#* }" 2>&1 && boot "$minor" && judge "$minor"); then
		table+=("$(row "$minor" equal)")
		echo "measured: $(head -n 1 "$OUT/$minor/count")"
		echo "ok $nr - Linux $(fact "$minor" release): equal to its own log, and clean after a kill"
	else
		failed=$((failed + 1))
		table+=("| $minor | | | | | differs |")
		echo "not ok $nr - Linux $minor"
		{ echo "$why"; tail -n 15 "$OUT/$minor/console" "$OUT/$minor"/*.err 2>/dev/null; } | sed 's/^/# /'
	fi
done
{
	echo '| Linux | one link for many uprobes | process filter in the kernel | polls | lost | beside its own log |'
	echo '|---|---|---|---|---|---|'
	printf '%s\n' "${table[@]}"
} >"$OUT/table"
if [ $short = 0 ] && [ ${#wanted[@]} = 0 ] && [ $failed = 0 ]; then
	awk -v table="$OUT/table" '
	/<!-- end of kernels/ { inside = 0 }
	!inside
	/<!-- kernels: written/ { inside = 1; while ((getline line < table) > 0) print line }' README.md >"$OUT/README.md" &&
		cat "$OUT/README.md" >README.md
fi
exit $((failed > 0))
