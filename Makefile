# SPDX-License-Identifier: GPL-2.0
#
# Every entry point of the project. The work is done by the scripts named here;
# each has a --help of its own.

KERNEL ?= 6.12
IMAGE ?= perf
JOBS ?= $(shell echo $$(($$(nproc) + 1)))
TESTS ?=
VMARGS ?=
SCRIPT ?=
V ?=
KDIR ?= build/$(KERNEL)/src
# A series has the tests only when asked for by KUNIT=1.
SERIES_KUNIT := $(KUNIT)
# Tests ride along in the trees that are ours: their Kconfig symbols decide
# whether they are built. Somebody else's tree gets them on request only.
KUNIT ?= $(if $(filter build/$(KERNEL)/src,$(KDIR)),1)

KERNELS := $(patsubst kernels/%/source,%,$(wildcard kernels/*/source))
IMAGES := $(filter-out base,$(patsubst kernels/%.config,%,$(wildcard kernels/*.config)))
ifeq ($(filter $(KERNEL),$(KERNELS)),)
$(error KERNEL=$(KERNEL): there is no such kernel here, only: $(KERNELS))
endif
ifeq ($(filter $(IMAGE),$(IMAGES)),)
$(error IMAGE=$(IMAGE): there is no such image, only: $(IMAGES))
endif

INTEGRATE := tools/integrate/integrate
OURS := $(filter build/$(KERNEL)/src,$(KDIR))
# A build of this tree must not see files change under it.
LOCKED := $(if $(OURS),tools/kernel/locked $(KERNEL))
BZIMAGE := build/$(KERNEL)/$(IMAGE)/arch/x86/boot/bzImage
export JOBS V

.DEFAULT_GOAL := help
.PHONY: help setup unpack integrate unintegrate kernel vm kunit selftest check \
	test test-all demo bench-instructions bench-pools bench-unmap series clean distclean
# One kernel is built at a time; each build uses all CPUs.
.NOTPARALLEL:

help:
	@echo 'Targets:'
	@echo '  setup        install the Debian packages that the others need'
	@echo '  integrate    put files and hooks into KDIR, all or nothing'
	@echo '  unintegrate  restore KDIR byte for byte'
	@echo '  series       the same change as git format-patch files, in build/series/'
	@echo '  kernel       build IMAGE of KERNEL with everything integrated'
	@echo '  vm           boot it and run SCRIPT=path in it, without SCRIPT a shell'
	@echo '  kunit        unit tests, in a virtual machine'
	@echo '  selftest     tests of the real driver, in a virtual machine (IMAGE=, default test)'
	@echo '  check        linters, warnings of compilers, fuzzers, names and documents'
	@echo '  test         kunit, selftest, check and the tests of the tools, on 6.12'
	@echo '  test-all     all kernels, the full matrix, longer runs'
	@echo '  demo         the same load completed in the interrupt and deferred'
	@echo '  bench-instructions  instructions a request, completed in the interrupt and deferred'
	@echo '  bench-pools  PRP pools by device, node and queue'
	@echo '  bench-unmap  unmapping by vfio and iommufd, against stock'
	@echo '  clean        remove build/, but for the compiler cache build/ccache'
	@echo '  distclean    remove all of build/'
	@echo 'Variables:'
	@echo '  KERNEL=$(KERNEL)   $(KERNELS)'
	@echo '  IMAGE=$(IMAGE)    perf: for figures; test: finds faults (lockdep, KUnit);'
	@echo '                kasan: finds faults of memory, and leaks'
	@echo '                nonuma: test, without NUMA'
	@echo '                stock: perf, with the stock loops of vfio and iommufd'
	@echo '  KDIR=DIR      a kernel tree of yours (default $(KDIR))'
	@echo '  KUNIT=1       put the unit tests into KDIR, too'
	@echo '  TESTS="a b"   only these selftests (patterns)'
	@echo '  SCRIPT=, VMARGS=  for vm: see tools/vm/run --help'
	@echo '  JOBS=$(JOBS)        parallel jobs of a kernel build'
	@echo '  V=1           show the build log'

setup:
	@tools/setup $(KERNEL)

unpack: setup
	@$(if $(OURS),tools/kernel/unpack $(KERNEL))

integrate: unpack
	@$(LOCKED) $(INTEGRATE) install $(if $(KUNIT),--with-kunit) '$(KDIR)'

unintegrate: unpack
	@$(LOCKED) $(INTEGRATE) revert '$(KDIR)'

series: unpack
	@$(LOCKED) $(INTEGRATE) series $(if $(SERIES_KUNIT),--with-kunit) '$(KDIR)' 'build/series/$(if $(OURS),$(KERNEL),$(notdir $(KDIR)))'

kernel: integrate
	@$(if $(OURS),tools/kernel/build $(KERNEL) $(IMAGE),echo 'Integrated. A tree of yours is built as you always do; see Kconfig for NVMETUNE.')

vm: kernel
	@tools/vm/run $(VMARGS) $(if $(SCRIPT),$(BZIMAGE) -- $(SCRIPT),--shell $(BZIMAGE))

kunit: override IMAGE := test
kunit: kernel
	@tools/kunit/run $(KERNEL)

selftest: override IMAGE := $(if $(filter command,$(firstword $(origin IMAGE))),$(IMAGE),test)
selftest: kernel
	@tools/testing/selftests/nvmetune/run --kernel $(KERNEL) --image $(IMAGE) $(TESTS)

check: override KERNEL := 6.12
check: integrate
	@tools/kernel/build --config $(KERNEL) test
	@tools/check

test: setup
	@tools/test

test-all:
	@tools/setup --all
	@tools/test --all

demo: setup
	@tools/bench/demo

bench-instructions: override IMAGE := perf
bench-instructions: override KERNEL := 6.12
bench-instructions: kernel
	@tools/bench/instructions

bench-pools: setup
	@tools/bench/pools

bench-unmap: setup
	@tools/bench/unmap

clean:
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name ccache -exec rm -rf {} +; fi
	@echo 'removed build/, kept build/ccache (make distclean removes it, too)'

distclean:
	@rm -rf build
