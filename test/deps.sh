#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build, the tests and the demo need: Debian 12, Debian 13, Ubuntu 25.04 or later.
# Quick and silent about it when all is there; never touches a tool that is good enough already.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

LIBBPF_MIN=1:1.4   # uprobe_multi links and bpftool's skeletons as the agent uses them
CARGO_MIN=1.85     # Tokio 1.54 and dial9 need it; before 1.70 crates cannot even be fetched

# built against by the libraries' development files: these four must come from one suite, since
# the newer libbpf-dev pulls a libelf that the older libdw-dev refuses
bpf_packages=(libbpf-dev bpftool libelf-dev libdw-dev)
packages=(
	gcc libc6-dev make git pkg-config binutils lld mold clang libclang-rt-dev clang-format
	libzydis-dev libiberty-dev libzstd-dev zlib1g-dev libyajl-dev libcap-ng-dev uthash-dev
	libsqlite3-dev sqlite3 protobuf-compiler
	libmicrohttpd-dev libcmocka-dev bats jq curl iproute2 zstd gzip procps util-linux mount ca-certificates
	qemu-system-x86 busybox-static cpio
)

fail() {
	echo "deps: $*" >&2
	exit 1
}

installed() { # NAME: is this package installed?
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

candidate() { # NAME: version that apt would install, empty if it knows none
	apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}

version_of() { # PROGRAM: its version number, empty if it does not run
	"$1" --version 2>/dev/null | awk 'NR == 1 { print $2 }'
}

is_cargo_good() {
	local v
	for tool in cargo rustc; do
		v=$(version_of $tool)
		[ -n "$v" ] && dpkg --compare-versions "$v" ge $CARGO_MIN || return 1
	done
}

is_bpf_good() {
	local p v
	for p in "${bpf_packages[@]}"; do
		# a bpftool that came another way (Ubuntu's kernel tools) is as good
		installed "$p" || { [ "$p" = bpftool ] && has_bpftool; } || return 1
	done
	v=$(dpkg-query -W -f '${Version}' libbpf-dev)
	dpkg --compare-versions "$v" ge $LIBBPF_MIN
}

has_bpftool() { # the name alone is not enough: Ubuntu has a wrapper that may find no program
	local tool
	for tool in /usr/sbin/bpftool /usr/bin/bpftool /usr/lib/linux-tools/*/bpftool; do
		[ -x "$tool" ] && "$tool" version >/dev/null 2>&1 && return 0
	done
	return 1
}

missing=()
for p in "${packages[@]}"; do
	installed "$p" || missing+=("$p")
done
# the programs are what is needed, from wherever they came
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
command -v python3 >/dev/null || missing+=(python3)
# the page's tests open it in a browser; elsewhere than on Debian apt has only a wrapper of that name
if ! command -v chromium >/dev/null && grep -qx 'ID=debian' /etc/os-release; then
	missing+=(chromium fonts-dejavu-core)
fi
python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
need_bpf=0 need_cargo=0
is_bpf_good || need_bpf=1
is_cargo_good || need_cargo=1
[ ${#missing[@]} -gt 0 ] || [ $need_bpf = 1 ] || [ $need_cargo = 1 ] || exit 0

command -v apt-get >/dev/null || fail "no apt-get here; missing: ${missing[*]} ${bpf_packages[*]}.
Install them by this system's own means, with libbpf $LIBBPF_MIN or later."
[ "$(id -u)" = 0 ] || fail "packages are missing and only root can install them: run 'sudo make deps'"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { # apt-get, quiet unless it fails; waits for another apt that holds the lock
	if ! apt-get -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		fail "apt-get $* failed (above); mend that and run 'make deps' again"
	fi
}
updated=0
update() { # fetch apt's lists, once in a run
	[ $updated = 1 ] && return
	echo "deps: apt-get update"
	apt update
	updated=1
}
install() {
	echo "deps: installing $*"
	apt install --no-install-recommends "$@"
}

# Empty lists know no candidate for anything.
[ -n "$(candidate libzydis-dev)" ] && [ -n "$(candidate libbpf-dev)" ] || update
[ -n "$(candidate libbpf-dev)" ] || fail "apt knows no libbpf-dev: is the distribution's main suite enabled in /etc/apt?"

# ---- the backports suite, where this release's libbpf is too old ----
add_backports() { # SUITE: the machine's own entry of its main suite, with the suite replaced
	local codename=$1 f out=/etc/apt/sources.list.d/dial9-backports
	for f in /etc/apt/sources.list.d/*.sources; do
		[ -f "$f" ] || continue
		awk -v RS= -v main="$codename" '
			{
				n = split($0, line, "\n"); is_main = 0; out = ""
				for (i = 1; i <= n; i++) {
					if (line[i] ~ /^[Ee]nabled:[ \t]*no/) next
					if (line[i] ~ /^[Ss]uites:/) {
						m = split(line[i], word, /[ \t]+/)
						for (j = 2; j <= m; j++) if (word[j] == main) is_main = 1
						line[i] = "Suites: " main "-backports"
					} else if (line[i] ~ /^[Cc]omponents:/) {
						line[i] = "Components: main"
					} else if (line[i] ~ /^#/) continue
					out = out line[i] "\n"
				}
				if (is_main) { printf "%s", out; exit }
			}' "$f" >"$out.tmp"
		if [ -s "$out.tmp" ]; then
			mv "$out.tmp" "$out.sources"
			return
		fi
		rm -f "$out.tmp"
	done
	awk -v main="$codename" '
		$1 == "deb" {
			for (i = 2; i <= NF && !at; i++) if ($i == main) at = i
			if (at) {
				line = $1
				for (i = 2; i < at; i++) line = line " " $i
				print line " " main "-backports main"
				exit
			}
		}' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null >"$out.tmp" || :
	if [ -s "$out.tmp" ]; then
		mv "$out.tmp" "$out.list"
		return
	fi
	rm -f "$out.tmp"
	fail "found no apt source of the suite '$codename' to take the mirror of $codename-backports from; add that suite by hand"
}

if [ $need_bpf = 1 ]; then
	suite=()
	if ! dpkg --compare-versions "$(candidate libbpf-dev)" ge $LIBBPF_MIN; then
		update # an old list may be all that is wrong
	fi
	if ! dpkg --compare-versions "$(candidate libbpf-dev)" ge $LIBBPF_MIN; then
		. /etc/os-release
		[ "${ID:-}" = debian ] || fail "libbpf $LIBBPF_MIN or later is needed and ${PRETTY_NAME:-this system} has $(candidate libbpf-dev): use Debian 12, Debian 13, Ubuntu 25.04 or later"
		if ! apt-cache policy | grep -q "n=$VERSION_CODENAME-backports"; then
			echo "deps: adding $VERSION_CODENAME-backports (libbpf $LIBBPF_MIN or later)"
			add_backports "$VERSION_CODENAME"
			updated=0
			update
		fi
		suite=(-t "$VERSION_CODENAME-backports")
	fi
	if [ -z "$(candidate bpftool)" ]; then
		has_bpftool || install linux-tools-common linux-tools-generic
		bpf_packages=("${bpf_packages[@]/bpftool/}")
	fi
	install "${suite[@]}" ${bpf_packages[*]}
	has_bpftool || fail "bpftool is installed but does not run"
fi

[ ${#missing[@]} = 0 ] || install "${missing[@]}"

if [ $need_cargo = 1 ]; then
	if dpkg --compare-versions "$(candidate cargo | sed 's/^0\.\([0-9]*\)\..*/1.\1/')" ge $CARGO_MIN; then
		install cargo rustc
	elif [ -n "$(candidate cargo-web)" ]; then
		install cargo-web rustc-web
	else
		fail "no cargo $CARGO_MIN or later: this release has '$(candidate cargo)' and no cargo-web (Debian 12 keeps that in its security suite: enable it)"
	fi
	hash -r
	is_cargo_good || fail "cargo $(version_of cargo) is still older than $CARGO_MIN: $(command -v cargo) hides the installed one"
fi
echo "deps: all there"
