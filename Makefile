# SPDX-License-Identifier: Apache-2.0
# The whole build: one file, not recursive, output only below build/. `make help` lists targets.
# Sources are found by wildcard: a new .c file in a room is built without a change here.
# V=1 shows the commands; CC=clang and BUILD=build/clang choose the compiler and the place.

MAKEFLAGS += -r
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.DEFAULT_GOAL := all

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build
CLANG ?= clang
CLANG_FORMAT ?= clang-format
LLVM_STRIP ?= llvm-strip
# Debian keeps it out of a normal user's PATH; Ubuntu below the kernel's tools
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) \
	$(lastword $(wildcard /usr/lib/linux-tools/*/bpftool)) bpftool)
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECS ?= 10

VERSION := 0.1.0
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wvla
INCLUDE := -I. -Iagent -Iviewer -I$(BUILD)/bpf
BASE := -std=gnu11 -g -D_GNU_SOURCE -DDIAL9_VERSION='"$(VERSION)"' $(WARN) $(INCLUDE)
HARDEN := -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2
LINK := -pie -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
TRACE_LIBS := -lzstd -lz
AGENT_LIBS := -l:libbpf.a -ldw -lelf -lZydis -l:libiberty.a -lcap-ng -lyajl $(TRACE_LIBS) -lpthread -lm
VIEW_LIBS := -lyajl -lmicrohttpd -lsqlite3 $(TRACE_LIBS) -lpthread -lm

# ---- sources ----
BPF_SRC := $(wildcard bpf/*.bpf.c)
BENCH_BPF_SRC := $(wildcard test/bench/*.bpf.c)
FORMAT_SRC := $(wildcard format/*.c)
AGENT_SRC := $(filter-out agent/agent_main.c,$(wildcard agent/*.c))
VIEW_SRC := $(filter-out viewer/viewer_main.c,$(wildcard viewer/*.c viewer/core/*.c))
UNIT_SRC := $(wildcard test/unit/test_*.c)
FUZZ_SRC := $(wildcard test/fuzz/fuzz_*.c)
BENCH_SRC := $(filter-out %.bpf.c %sim.c,$(wildcard test/bench/*.c))
E2E_SRC := $(wildcard test/e2e/*.c)
CLI_SRC := $(wildcard test/cli/*.c)
MAIN_SRC := $(wildcard agent/agent_main.c viewer/viewer_main.c)
# helpers shared by several test programs stand beside them without the test_ or fuzz_ prefix
UNIT_HELP_SRC := $(filter-out test/unit/test_%,$(wildcard test/unit/*.c))

SKELS := $(BPF_SRC:bpf/%.bpf.c=$(BUILD)/bpf/%.skel.h)
BENCH_SKELS := $(BENCH_BPF_SRC:test/bench/%.bpf.c=$(BUILD)/bpf/%.skel.h)

TRUTH_BIN := $(BUILD)/truth/match $(BUILD)/truth/mutate
TRUTH_HELP_SRC := $(filter-out $(TRUTH_BIN:$(BUILD)/%=test/%.c),$(wildcard test/truth/*.c))

PROGRAMS := $(patsubst agent/%,$(BUILD)/dial9-agent,$(filter agent/%,$(MAIN_SRC))) \
	$(patsubst viewer/%,$(BUILD)/dial9-view,$(filter viewer/%,$(MAIN_SRC)))
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
ASAN_BIN := $(UNIT_SRC:%.c=$(BUILD)/asan/%)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(BUILD)/%)
BENCH_BIN := $(BENCH_SRC:%.c=$(BUILD)/%)
E2E_BIN := $(E2E_SRC:%.c=$(BUILD)/%)
CLI_BIN := $(CLI_SRC:%.c=$(BUILD)/%)

ifeq ($(V),)
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
else
say = @:
endif

.PHONY: all help deps demo test test-formats test-page test-unit test-asan test-fuzz test-cli test-e2e shipped matrix kernels soak truth truth-bins bench levels shown bins \
	unit-bins asan-bins fuzz-bins page page-modules page-big shots layers format install clean FORCE

all: $(PROGRAMS)

help:
	@echo 'make deps       install what the build and the tests need (apt, as root)'
	@echo 'make            build/dial9-agent and build/dial9-view'
	@echo 'make demo       record a real Tokio server under load for 10 s, print the report'
	@echo 'make test       everything below, in order; last line: N passed, N failed'
	@echo 'make test-unit  unit tests, no root'
	@echo 'make test-asan  the same under ASan and UBSan'
	@echo 'make test-fuzz  FUZZ_SECS=$(FUZZ_SECS) seconds of each fuzz target (clang)'
	@echo 'make test-cli   dial9-view and option handling against exact output, no root'
	@echo 'make test-formats  exports read by tools of their formats, from npm and PyPI'
	@echo 'make test-page  the page in a browser, and built anew to the same bytes'
	@echo 'make test-e2e   the agent on real programs, as root'
	@echo 'make shipped    programs of npm, PyPI and crates.io at work, recorded and judged, as root'
	@echo 'make matrix     each Tokio minor, each kind of build, as root; SHORT=1 a few, CELLS="musl 1.32"'
	@echo 'make kernels    other kernels than this one, in emulated machines; KERNELS="6.1" a few'
	@echo 'make soak       SECS=600 of recording: does the agent stay as it was? As root'
	@echo 'make truth      our traces against those of dial9 itself, poll for poll, as root'
	@echo 'make bench      cost per poll, wake and level, agent CPU and bytes per event, as root'
	@echo 'make levels     1,000 changes of level under load, as root'
	@echo 'make shown      shares, blocks and long polls at level stat against a log, as root'
	@echo 'make page       the page of dial9-view anew, from viewer/page/src (node)'
	@echo 'make page-big   its tests at 10 M events; make shots: the pictures of README.md'
	@echo 'make layers     which room may include which'
	@echo 'make format     clang-format'
	@echo 'make install    to PREFIX=$(PREFIX) below DESTDIR'
	@echo 'make clean      remove $(BUILD)'
	@echo 'V=1 shows commands, CC=clang BUILD=build/clang builds with clang beside gcc.'

deps:
	@bash test/deps.sh
demo:
	@bash test/demo.sh
test: deps
	@bash test/run.sh
test-unit test-asan test-fuzz test-cli test-formats test-page test-e2e:
	@bash test/run.sh $(@:test-%=%)
shipped: all bins
	@bash test/shipped/run.sh
matrix: all
	@bash test/matrix/run.sh $(if $(SHORT),--short) $(CELLS)
soak: all
	@bash test/soak/run.sh $(SECS)
kernels: all bins
	@bash test/kernels/run.sh $(KERNELS)
truth-bins: all $(TRUTH_BIN)
truth: truth-bins
	@bash test/truth/run.sh $(ROWS)
bench: all bins page-modules
	@bash test/bench/bench.sh
	@bash test/bench/columns.sh
	@bash test/bench/live.sh
	@bash test/bench/page.sh
	@bash test/bench/levels.sh
	@bash test/bench/peers.sh
	@bash test/bench/sweep.sh

shown: all bins
	@bats --tap test/shown/shown.bats
levels: all bins
	@CHANGES=1000 bats --tap -f 'levels change' test/e2e/level.bats
layers:
	@bash test/layers.sh

bins: $(BENCH_BIN) $(E2E_BIN) $(CLI_BIN)
unit-bins: $(UNIT_BIN)
asan-bins: $(ASAN_BIN)
fuzz-bins: $(FUZZ_BIN)

%/:
	@mkdir -p $@
.PRECIOUS: %/ $(BUILD)/bpf/%.bpf.o $(BUILD)/bpf/%.skel.h

# ---- BPF: C -> object -> skeleton header that carries the object ----
MULTIARCH := $(shell gcc -print-multiarch 2>/dev/null)
BPF_FLAGS := -target bpf -mcpu=v3 -O2 -g -std=gnu11 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror \
	-Wno-unused-parameter -I. -Ibpf -idirafter /usr/include/$(MULTIARCH)

define bpf_rules
$(BUILD)/bpf/%.bpf.raw.o: $(1)/%.bpf.c $$(BUILD)/bpf/flags | $$$$(@D)/
	$$(call say,BPF,$$<)
	$$(Q)$$(CLANG) $$(BPF_FLAGS) -MMD -MP -c -o $$@ $$<
endef
$(eval $(call bpf_rules,bpf))
$(eval $(call bpf_rules,test/bench))

$(BUILD)/bpf/%.bpf.o: $(BUILD)/bpf/%.bpf.raw.o
	$(Q)$(BPFTOOL) gen object $@ $<
$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

# ---- objects, in three variants: plain, asan, fuzz ----
# $(1) directory, $(2) compiler, $(3) flags. A changed compiler or flag rebuilds all of a variant.
define variant
$(1)/%.o: %.c $(1)/flags | $$$$(@D)/ $$(SKELS) $$(BENCH_SKELS)
	$$(call say,CC,$$<)
	$$(Q)$(2) $$(BASE) $(3) $$(CFLAGS) -MMD -MP -c -o $$@ $$<
$(1)/libagent.a: $$(AGENT_SRC:%.c=$(1)/%.o)
$(1)/libview.a: $$(VIEW_SRC:%.c=$(1)/%.o)
$(1)/libunit.a: $$(UNIT_HELP_SRC:%.c=$(1)/%.o)
$(1)/flags: what = $(2) $$(BASE) $(3) $$(CFLAGS)
endef
PLAIN := $(BUILD)/obj
ASAN := $(BUILD)/asan/obj
FUZZ := $(BUILD)/fuzz/obj
# warnings are judged in the plain build; sanitizers add false ones
ASAN_FLAGS := -O1 -Wno-error -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_FLAGS := $(ASAN_FLAGS) -fsanitize=fuzzer-no-link -DDIAL9_FUZZ
$(eval $(call variant,$(PLAIN),$$(CC),-O2 $$(HARDEN)))
$(eval $(call variant,$(ASAN),$$(CC),$$(ASAN_FLAGS)))
$(eval $(call variant,$(FUZZ),$$(CLANG),$$(FUZZ_FLAGS)))
# the page's files come in by the assembler
$(PLAIN)/viewer/assets.o $(ASAN)/viewer/assets.o $(FUZZ)/viewer/assets.o: $(wildcard viewer/page/dist/*)
$(BUILD)/bpf/flags: what = $(CLANG) $(BPF_FLAGS)

$(BUILD)/bpf/flags $(PLAIN)/flags $(ASAN)/flags $(FUZZ)/flags: FORCE | $$(@D)/
	@printf '%s\n' '$(subst ','\'',$(what))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(what))' > $@

$(BUILD)/libdial9trace.a: $(FORMAT_SRC:%.c=$(PLAIN)/%.o) | $$(@D)/
$(ASAN)/libdial9trace.a: $(FORMAT_SRC:%.c=$(ASAN)/%.o)
$(FUZZ)/libdial9trace.a: $(FORMAT_SRC:%.c=$(FUZZ)/%.o)
$(BUILD)/%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcsD $@ $(filter %.o,$^)

# ---- programs ----
# a group: libview.a is named last, and calls into libdial9trace.a
objects = -Wl,--start-group $(filter %.o %.a,$^) -Wl,--end-group
link = $(Q)$(CC) $(LINK) $(LDFLAGS) -o $@ $(objects)

$(BUILD)/dial9-agent: $(PLAIN)/agent/agent_main.o $(PLAIN)/libagent.a $(BUILD)/libdial9trace.a
	$(call say,LD,$@)
	$(link) $(AGENT_LIBS)
$(BUILD)/dial9-view: $(PLAIN)/viewer/viewer_main.o $(PLAIN)/libview.a $(BUILD)/libdial9trace.a
	$(call say,LD,$@)
	$(link) $(VIEW_LIBS)

# Tests link archives, so each pulls in what it calls and no more. One that says
# "links: viewer" within its first five lines gets the viewer's objects too.
VIEW_TESTS := $(shell for f in $(UNIT_SRC) $(FUZZ_SRC) $(BENCH_SRC); do \
	head -n 5 $$f | grep -q 'links: viewer' && echo $$f; done)
$(filter-out $(BUILD)/test/fuzz/%,$(VIEW_TESTS:%.c=$(BUILD)/%)): $(PLAIN)/libview.a
$(VIEW_TESTS:%.c=$(BUILD)/asan/%): $(ASAN)/libview.a
$(filter $(BUILD)/test/fuzz/%,$(VIEW_TESTS:%.c=$(BUILD)/%)): $(FUZZ)/libview.a

$(BUILD)/test/unit/%: $(PLAIN)/test/unit/%.o $(PLAIN)/libunit.a $(PLAIN)/libagent.a $(BUILD)/libdial9trace.a | $$(@D)/
	$(call say,LD,$@)
	$(link) -lcmocka $(AGENT_LIBS) $(VIEW_LIBS)
$(BUILD)/asan/test/unit/%: $(ASAN)/test/unit/%.o $(ASAN)/libunit.a $(ASAN)/libagent.a $(ASAN)/libdial9trace.a | $$(@D)/
	$(call say,LD,$@)
	$(Q)$(CC) $(ASAN_FLAGS) $(LDFLAGS) -o $@ $(objects) -lcmocka $(AGENT_LIBS) $(VIEW_LIBS)
$(BUILD)/test/fuzz/%: $(FUZZ)/test/fuzz/%.o $(FUZZ)/libagent.a $(FUZZ)/libdial9trace.a | $$(@D)/
	$(call say,LD,$@)
	$(Q)$(CLANG) $(ASAN_FLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $(objects) $(AGENT_LIBS) $(VIEW_LIBS)
$(BUILD)/test/bench/bench_track: $(PLAIN)/test/bench/tracksim.o

$(BUILD)/test/bench/%: $(PLAIN)/test/bench/%.o $(PLAIN)/libagent.a $(BUILD)/libdial9trace.a | $$(@D)/
	$(call say,LD,$@)
	$(link) $(AGENT_LIBS)
$(BUILD)/test/e2e/%: $(PLAIN)/test/e2e/%.o $(PLAIN)/libagent.a $(BUILD)/libdial9trace.a | $$(@D)/
	$(call say,LD,$@)
	$(link) $(AGENT_LIBS)
$(BUILD)/test/cli/%: $(PLAIN)/test/cli/%.o $(BUILD)/libdial9trace.a | $$(@D)/
	$(call say,LD,$@)
	$(link) $(TRACE_LIBS)
$(TRUTH_BIN): $(BUILD)/%: $(PLAIN)/test/%.o $(TRUTH_HELP_SRC:%.c=$(PLAIN)/%.o) $(BUILD)/libdial9trace.a | $$(@D)/
	$(call say,LD,$@)
	$(link) $(TRACE_LIBS)

# objects of the tests are asked for only through their programs; keep them all the same
.PRECIOUS: $(PLAIN)/%.o $(ASAN)/%.o $(FUZZ)/%.o

# ---- the page: its built files are committed, so that building the programs needs no node ----
PAGE_MODULES := viewer/page/node_modules/.stamp
$(PAGE_MODULES): viewer/page/package-lock.json
	$(call say,NPM,$<)
	$(Q)cd viewer/page && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
page-modules: $(PAGE_MODULES)
page: $(PAGE_MODULES)
	$(Q)cd viewer/page && node node_modules/typescript/bin/tsc -p . && node build.mjs

page-big: all bins $(PAGE_MODULES)
	@EVENTS=10000000 PAGE_PATIENCE_MS=120000 bash test/browser/run.sh
shots: all bins $(PAGE_MODULES)
	@bash test/browser/shots.sh

# ---- chores ----
format:
	$(Q)git ls-files 'agent/*.[ch]' 'viewer/*.[ch]' 'viewer/core/*.[ch]' 'format/*.[ch]' 'bpf/*.[ch]' 'test/*.[ch]' | \
		xargs $(CLANG_FORMAT) -i

MAN8 := $(wildcard agent/*.8)
MAN1 := $(wildcard viewer/*.1)
UNITS := $(wildcard deploy/*.service)
install: all
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/bin
	install -m 0755 $(BUILD)/dial9-agent $(DESTDIR)$(PREFIX)/sbin/dial9-agent
	install -m 0755 $(BUILD)/dial9-view $(DESTDIR)$(PREFIX)/bin/dial9-view
	$(if $(MAN8),install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man8 $(MAN8))
	$(if $(MAN1),install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(MAN1))
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	for f in $(UNITS); do \
		sed 's|@SBINDIR@|$(PREFIX)/sbin|g' $$f \
			> $(DESTDIR)$(PREFIX)/lib/systemd/system/$${f##*/} || exit 1; done
	install -D -m 0644 deploy/dial9-tmpfiles.conf $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/dial9.conf
	install -D -m 0644 deploy/dial9-sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/dial9.conf
	install -D -m 0644 deploy/dial9-agent.env $(DESTDIR)$(PREFIX)/share/dial9/dial9-agent.env
	install -D -m 0644 deploy/skills/dial9-view/SKILL.md $(DESTDIR)$(PREFIX)/share/dial9/skills/dial9-view/SKILL.md

clean:
	rm -rf $(BUILD)

-include $(wildcard $(BUILD)/bpf/*.d $(PLAIN)/*/*.d $(PLAIN)/*/*/*.d $(ASAN)/*/*.d \
	$(ASAN)/*/*/*.d $(FUZZ)/*/*.d $(FUZZ)/*/*/*.d)
