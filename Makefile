# rlock: GNU make, one file, no configure.  `make help` lists the targets.
#
# CC CFLAGS CPPFLAGS LDFLAGS LDLIBS AR are the user's and come last.
# B=DIR builds elsewhere; WERROR=1 makes warnings errors; SAN=1 adds the
# sanitizers (as `make sanitize` does); RLOCK=FILE tests another binary; V=1
# shows the commands.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:

B       ?= build
CFLAGS  ?= -O2
AWK     ?= awk
GCC     ?= gcc
CLANG   ?= clang
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
ROUNDS  ?=
T       ?=
RLOCK   ?= $(abspath $(B))/rlock
PKG_CONFIG ?= pkg-config
Q        = $(if $(V),,@)
show     = $(if $(V),,@printf '  %-5s%s\n' $(1) $@)
ifeq ($(origin CC),default)
CC      := cc
endif
ifeq ($(origin AR),default)
AR      := ar
endif

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d

# --- what is there ------------------------------------------------------------

VERSION  := $(shell cat VERSION)
# Without TLS the URLs are known all the same, and told that it is missing.
TLS_SRC  := $(if $(filter 0,$(TLS)),src/redis/tls.c,src/redis/tls_none.c)
SRC      := $(filter-out $(TLS_SRC),$(sort $(wildcard src/*/*.c)))
HEADERS  := $(sort $(wildcard src/*/*.h))
LUA      := $(sort $(wildcard src/lua/*.lua))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
PROG_SRC := $(sort $(wildcard tests/progs/*.c))
BENCH_SRC := $(sort $(wildcard tests/bench/*.c))

OBJS     := $(SRC:%.c=$(B)/%.o) $(if $(LUA),$(B)/script_data.o)
LIB_OBJS := $(filter-out $(B)/src/top/main.o,$(OBJS))
UNITS    := $(UNIT_SRC:tests/%.c=$(B)/%)
PROGS    := $(PROG_SRC:tests/%.c=$(B)/%)
BENCHES  := $(filter-out %/noguard,$(BENCH_SRC:tests/%.c=$(B)/%)) $(B)/bench/rlock-noguard

# --- flags --------------------------------------------------------------------

# once NAME,COMMAND: the output of COMMAND, run at the first use of NAME; so
# `make deps all` asks pkg-config after deps has installed it.
once = $(eval $(1) := $$(shell $(2)))$($(1))

# Includes are spelled <hiredis/hiredis.h>: of -I.../hiredis the parent counts.
# Foreign headers are system headers, so that they do not warn.
pc-hiredis   = $(call once,pc-hiredis,$(PKG_CONFIG) --cflags hiredis 2>/dev/null)
hiredis-dirs = $(sort $(patsubst %/hiredis,%,$(patsubst -I%,%,$(filter -I%,$(pc-hiredis)))))
HIREDIS_CFLAGS = $(addprefix -isystem ,$(filter-out /usr/include,$(hiredis-dirs))) \
	$(filter-out -I%,$(pc-hiredis))
# The archive, where there is one: it is a codec of a few KB, and relocating
# the shared library is a fifth of all instructions of a short run.
# HIREDIS_A= links the shared one.
HIREDIS_A    = $(call once,HIREDIS_A,$(CC) -print-file-name=libhiredis.a 2>/dev/null | grep / || true)
HIREDIS_LIBS = $(or $(HIREDIS_A),$(call once,hiredis-shared,$(PKG_CONFIG) --libs hiredis 2>/dev/null || echo -lhiredis))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wpointer-arith \
	-Wwrite-strings -Wcast-qual -Wformat=2 -Wvla -Wundef -Wconversion \
	-Wno-sign-conversion -fno-common
HARDEN := -fPIE -fstack-protector-strong
HARDEN_LD := -pie -Wl,-z,relro -Wl,-z,now -Wl,--as-needed -Wl,-O1
# One mapping for code and constants: fewer pages to map and fault in at a start.
SMALL_LD := -Wl,-z,noseparate-code

# Fortify needs an optimiser, is at odds with sanitizers, and the user's wins.
optimised := $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
ifeq ($(SAN)$(findstring -fsanitize,$(CFLAGS))$(findstring _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS)),)
HARDEN += $(if $(optimised),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
comma := ,
SANITIZE := $(if $(SAN),-fsanitize=address$(comma)undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer)

RLOCK_CPPFLAGS = -Isrc -D_GNU_SOURCE -DRLOCK_VERSION='"$(VERSION)"' $(HIREDIS_CFLAGS)
RLOCK_CFLAGS   = -std=c11 $(WARN) $(if $(WERROR),-Werror) $(HARDEN) $(SANITIZE) \
	-ffile-prefix-map=$(CURDIR)=. -pthread
RLOCK_LDFLAGS  = $(HARDEN_LD) $(SMALL_LD) $(SANITIZE) -pthread
RLOCK_LDLIBS   = $(HIREDIS_LIBS)

DEPEND  = -MMD -MP -MT $@ -MF $(@:.o=).d
COMPILE = $(CC) $(RLOCK_CPPFLAGS) $(RLOCK_CFLAGS) $(CPPFLAGS) $(CFLAGS)
LINK    = $(CC) $(RLOCK_CFLAGS) $(RLOCK_LDFLAGS) $(CFLAGS) $(LDFLAGS)
LIBS    = $(RLOCK_LDLIBS) $(LDLIBS)

# --- targets ------------------------------------------------------------------

.PHONY: all check check-unit check-script check-run soak model bench lint format sanitize \
	install uninstall dist clean help deps demo FORCE .lint-tools

all: $(B)/rlock ## build build/rlock (the default)

check: $(B)/rlock $(UNITS) $(PROGS) ## run the tests; T=tests/lock runs a part
	@$(RUN_TESTS) $(B)/tap $(or $(T),unit script run lock net docs)

check-unit: $(UNITS) ## run the unit tests
	@$(RUN_TESTS) $(B)/tap-unit unit

check-script: $(PROGS) $(if $(LUA),$(B)/script_data.c) ## run the tests of the Lua scripts
	@$(RUN_TESTS) $(B)/tap-script script

check-run: $(B)/rlock $(PROGS) ## run the tests of lock and command
	@$(RUN_TESTS) $(B)/tap-run run lock

soak: $(B)/rlock $(PROGS) ## run the rounds by the hundred; ROUNDS=20: so many of each
	@ROUNDS=$(ROUNDS) BATS_TEST_TIMEOUT=860 $(EXPORT) JOBS=1 \
	    bash tests/lib/run-tests.sh $(B)/tap-soak soak; s=$$?; \
	sed -n 's/^# = //p' $(B)/tap-soak/*.tap; exit $$s

bench: $(B)/rlock $(BENCHES) ## what it costs, beside flock; ROUNDS=1000: so many; WRITE=1: into tests/bench/README.md
	@ROUNDS=$(ROUNDS) $(EXPORT) bash tests/bench/bench.sh $(if $(WRITE),--write)

model: ## check the protocol's model by spin, and that its sabotaged versions fail
	@$(EXPORT) JOBS=$(JOBS) bash tests/model/model.sh

sanitize: ## rebuild with address and undefined sanitizers, run the same tests
	@rm -f build/san/report.*
	@ASAN_OPTIONS=exitcode=99:log_path=$(abspath build/san)/report \
	UBSAN_OPTIONS=print_stacktrace=1:log_path=$(abspath build/san)/report \
	$(MAKE) --no-print-directory B=build/san SAN=1 CFLAGS='-O1 -g' \
	    RLOCK=$(abspath build/san)/rlock RLOCK_SANITIZE=1 check; s=$$?; \
	for r in build/san/report.*; do \
		if [ -e "$$r" ]; then s=1; echo "sanitize: $$r"; cat "$$r"; fi; \
	done; exit $$s

lint: $(B)/rlock $(if $(LUA),$(B)/script_data.o) .lint-tools ## all checks that need no server: compilers, linters, what can drift
	@$(MAKE) --no-print-directory -k $(LINT_OBJS); s=$$?; \
	$(EXPORT) LINT_FLAGS="-std=c11 -Isrc $(subst ",\",$(RLOCK_CPPFLAGS))" \
	    bash tests/lint/lint.sh || s=1; exit $$s

format: ## clang-format -i over src and tests
	bash tests/lint/format.sh -i

install: all ## install into $(DESTDIR)$(PREFIX)
	install -d '$(DESTDIR)$(BINDIR)'
	install -m 755 $(B)/rlock '$(DESTDIR)$(BINDIR)/rlock'
	$(call install-file,man/rlock.1,$(MANDIR)/man1)
	$(call install-file,completions/rlock.bash,$(BASHCOMPDIR),rlock)
	$(call install-file,completions/_rlock,$(ZSHCOMPDIR))
	$(call install-file,completions/rlock.fish,$(FISHCOMPDIR))

uninstall: ## remove what install has put there
	rm -f '$(DESTDIR)$(BINDIR)/rlock' '$(DESTDIR)$(MANDIR)/man1/rlock.1' \
	    '$(DESTDIR)$(BASHCOMPDIR)/rlock' '$(DESTDIR)$(ZSHCOMPDIR)/_rlock' \
	    '$(DESTDIR)$(FISHCOMPDIR)/rlock.fish'

# install-file FILE,FOLDER[,NAME]: if FILE exists
install-file = $(if $(wildcard $(1)),install -d '$(DESTDIR)$(2)' && install -m 644 $(1) '$(DESTDIR)$(2)/$(or $(3),$(notdir $(1)))')

# The files of the commit, as they are, with its time: the same bytes each time.
DIST = rlock-$(shell cat VERSION)
dist: ## build/rlock-VERSION.tar.gz, the same bytes from the same commit
	@mkdir -p build
	git ls-files -z | LC_ALL=C sort -z | tar --null --no-recursion -T - \
	    --transform 's,^,$(DIST)/,' --format=ustar --owner=0 --group=0 \
	    --numeric-owner --mode=u+rw,go+r-w,a-s \
	    --mtime="@$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}" -cf - | \
	    gzip -9n >build/$(DIST).tar.gz

clean: ## remove what was built
	rm -rf build

deps: ## install what building and testing need, by the system's packages
	@sh tests/deps.sh

demo: $(B)/rlock ## see it work, on a throw-away server
	@$(EXPORT) bash tests/demo.sh

help: ## this list
	@$(AWK) -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-14s%s\n", $$1, $$2 }' Makefile

# --- building -----------------------------------------------------------------

$(B)/rlock: $(OBJS) $(B)/objs
	$(call show,LD)
	$(Q)$(LINK) -o $@ $(OBJS) $(LIBS)

# A stamp holds a text and is touched only when that text changes.  `make
# install` alone takes what is built, with whatever flags it was.
stale = $(if $(filter-out install uninstall,$(or $(MAKECMDGOALS),all)),FORCE,$(if $(wildcard $@),,FORCE))
define stamp
	$(shell mkdir -p $(@D))$(file >$@.new,$(1))
	@if cmp -s $@ $@.new; then rm -f $@.new; else mv $@.new $@; fi
endef

.SECONDEXPANSION:

$(B)/flags: $$(stale)
	$(call stamp,$(COMPILE) | $(LINK) $(LIBS))

$(B)/objs: $$(stale)
	$(call stamp,$(OBJS))

$(B)/src/%.o: src/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(COMPILE) $(DEPEND) -c -o $@ $<

$(B)/script_data.c: src/lua/embed.awk $(LUA) $(B)/objs
	@mkdir -p $(@D)
	$(call show,AWK)
	$(Q)LC_ALL=C $(AWK) -f src/lua/embed.awk $(wildcard src/lua/prelude.lua) $(LUA) >$@

$(B)/script_data.o: $(B)/script_data.c $(B)/flags
	$(call show,CC)
	$(Q)$(COMPILE) $(DEPEND) -c -o $@ $<

# A test may bring its own version of a module: an archive gives way to it.
$(B)/librlock.a: $(LIB_OBJS) $(B)/objs
	@rm -f $@
	$(call show,AR)
	$(Q)$(AR) rcs $@ $(LIB_OBJS)

$(B)/unit/%: tests/unit/%.c $(B)/librlock.a $(B)/flags
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(COMPILE) $(DEPEND) $(RLOCK_LDFLAGS) $(LDFLAGS) -o $@ $< $(B)/librlock.a $(LIBS)

$(B)/progs/%: tests/progs/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(COMPILE) $(DEPEND) $(RLOCK_LDFLAGS) $(LDFLAGS) -o $@ $< $(LIBS)

# Static, where libc can be: what starts a program is not to be measured.
$(B)/bench/mark: tests/bench/mark.c $(B)/flags
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(COMPILE) $(DEPEND) -static -o $@ $< 2>/dev/null || $(COMPILE) $(DEPEND) -o $@ $<

# rlock with another guard: the archive gives way to it.
$(B)/bench/rlock-noguard: tests/bench/noguard.c $(B)/src/top/main.o $(B)/librlock.a
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(COMPILE) $(DEPEND) $(RLOCK_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/bench/%: tests/bench/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(COMPILE) $(DEPEND) $(RLOCK_LDFLAGS) $(LDFLAGS) -o $@ $< $(LIBS) -lm

-include $(OBJS:.o=.d) $(UNITS:=.d) $(PROGS:=.d) $(BENCHES:=.d)

# `make -j deps check`: nothing is compiled before deps is done.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
$(B)/flags $(B)/objs .lint-tools: | deps
format: | deps
endif

# --- testing ------------------------------------------------------------------

EXPORT    = RLOCK='$(RLOCK)' RLOCK_BUILD='$(abspath $(B))'
RUN_TESTS = $(EXPORT) JOBS=$(JOBS) bash tests/lib/run-tests.sh

# Every source with both compilers, and every header alone; warnings are errors.
LINT_SRC  := $(SRC) $(UNIT_SRC) $(PROG_SRC) $(BENCH_SRC) $(if $(LUA),$(B)/script_data.c)
LINT_OBJS := $(LINT_SRC:%=$(B)/lint/gcc/%.o) $(LINT_SRC:%=$(B)/lint/clang/%.o) \
	$(HEADERS:%=$(B)/lint/gcc/%.o) $(HEADERS:%=$(B)/lint/clang/%.o)
LINT_COMPILE = @mkdir -p $(@D) && $(1) $(RLOCK_CPPFLAGS) $(RLOCK_CFLAGS) -Werror \
	-O2 $(DEPEND) $(CPPFLAGS) -x c -c -o $@ $<

$(B)/lint/gcc/%.o: % $(B)/flags | .lint-tools
	$(call LINT_COMPILE,$(GCC))

$(B)/lint/clang/%.o: % $(B)/flags | .lint-tools
	$(call LINT_COMPILE,$(CLANG))

ifneq ($(filter $(B)/lint/%,$(MAKECMDGOALS)),)
-include $(LINT_OBJS:.o=.d)
endif

.lint-tools:
	@bash tests/lint/tools.sh '$(GCC)' '$(CLANG)'
