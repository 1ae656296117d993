# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of the tool: built with sanitizers and counters of what ran, in directories of
# their own. Included by ../Makefile.

FUZZ_SECONDS ?= 20
CLANG ?= clang
T := $(O)/test
F := $(O)/fuzz

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
TEST_CFLAGS := -O1 -g $(SANITIZE) --coverage
UNITS := $(patsubst tests/%.c,%,$(wildcard tests/test-*.c))
FUZZERS := $(patsubst tests/%.c,%,$(wildcard tests/fuzz-*.c))
CHECK := $(shell $(PKG_CONFIG) --cflags --libs check 2>/dev/null)

.PHONY: test fuzz test-build

test-build:
	@$(MAKE) --no-print-directory O=$(T) CFLAGS='$(TEST_CFLAGS)' TESTING=1 all units

test: all test-build
	@tests/run $(T)

fuzz:
	@$(MAKE) --no-print-directory O=$(F) CC=$(CLANG) TESTING=1 \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' fuzzers
	@tests/run --fuzz $(F) $(FUZZ_SECONDS)

ifdef TESTING
.PHONY: units fuzzers
units: $(UNITS:%=$(O)/%) $(O)/tool-netlink
fuzzers: $(FUZZERS:%=$(O)/%)

$(O)/tool-netlink: tests/tool-netlink.c $(LIBRARY)
	@echo '  LD $@'
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -MMD -MP -o $@ $< $(LIBRARY) $(LIBS)

$(O)/test-%: tests/test-%.c $(LIBRARY)
	@echo '  LD $@'
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -MMD -MP -o $@ $< $(LIBRARY) $(LIBS) $(CHECK)

$(O)/fuzz-%: tests/fuzz-%.c $(LIBRARY)
	@echo '  LD $@'
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -fsanitize=fuzzer -MMD -MP -o $@ $< $(LIBRARY) $(LIBS)

-include $(UNITS:%=$(O)/%.d) $(O)/tool-netlink.d $(FUZZERS:%=$(O)/%.d)
endif
