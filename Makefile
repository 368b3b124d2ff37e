# SPDX-License-Identifier: Apache-2.0
# Short commands around CMake. `make` alone builds. How long they take: on two cores, with nothing built before.
.DEFAULT_GOAL := build
.PHONY: help dependencies build benchmarks test check measure fuzz tidy demo docs format package wheel install clean

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SECONDS ?= 60
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

help: ## this list
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22
	@echo "Variables: JOBS=$(JOBS) (compilers at a time), PART (of make check and measure), PREFIX=$(PREFIX) (for make install)"
	@echo "Minutes are for two cores and nothing built before; with ccache installed, a second build takes seconds."

dependencies: ## install all Debian packages that are missing (2 minutes)
	@scripts/install-dependencies.sh

demo: ## two pictures in build/demo: a search against tuned peers, OpenMP programs at once (2 minutes)
	@scripts/install-dependencies.sh demo
	@echo "Building the demo takes about a minute on two cores, measuring another one."
	cmake --preset demo --log-level=WARNING
	cmake --build --preset demo
	@lab/scripts/demo.sh

build: ## build with g++ -O3; the program is build/release/bin/sukima (6 minutes)
	@scripts/install-dependencies.sh build
	@echo "A whole build takes about 6 minutes on two cores. make help: the other commands, and how long they take."
	cmake --preset release
	cmake --build --preset release

benchmarks: build ## build all that `sukima bench` can start: also by clang, and in Rust (3 minutes more)
	@scripts/install-dependencies.sh benchmarks
	cmake --preset release
	cmake --build --preset release --target benchmarks

test: ## the gate: build and run the tests that decide about landing (15 minutes)
	@scripts/install-dependencies.sh test-build
	@echo "Building and testing takes about 15 minutes on two cores."
	@scripts/test.sh

check: ## sanitizers, aarch64, models, fuzzers, long random runs, deliberate faults, clang-tidy (three and a half hours); PART=tsan: a part of it; PART=mutants FILE=…: which small changes of a file does no test notice?
	@scripts/install-dependencies.sh
	@FILE=$(FILE) scripts/test.sh --check $(PART)

measure: ## the tests whose verdict is a time or a share of CPU, alone on the machine (10 minutes); PART=host: a table (5 hours, or QUICK=1); PART=targets: all targets of docs/benchmarks.md (hours, or QUICK=1)
	@scripts/install-dependencies.sh
	@scripts/test.sh --measure $(PART) $(if $(QUICK),--quick)

fuzz: ## let the fuzzers of the parsers run freely, SECONDS (60) each; check has a fixed number of fixed inputs
	@scripts/install-dependencies.sh
	cmake --preset release --log-level=WARNING
	cmake --build --preset release --target fuzzers
	@scripts/fuzz.sh build/release $(SECONDS)

tidy: ## clang-tidy with the static analyzer over all sources (an hour; make check: changed ones and a part)
	@scripts/install-dependencies.sh
	cmake --preset tidy
	@scripts/check-tidy.py build/tidy

docs: build ## the reference as HTML in build/release/docs/html
	@scripts/install-dependencies.sh test
	cmake --preset release
	cmake --build --preset release --target docs

format: ## format the C and C++ sources
	@scripts/install-dependencies.sh format
	@scripts/check-format.sh --fix

package: ## .deb packages and a .tar.gz for any folder, in build/release/packages
	@scripts/install-dependencies.sh package
	cmake --preset release
	cmake --build --preset release --target sukima_packaged benchmarks
	cd build/release && cpack

wheel: ## the Python package sukima as a wheel, in build/wheel/packages
	@scripts/install-dependencies.sh wheel
	cmake --preset wheel
	cmake --build --preset wheel

install: build ## install into PREFIX
	cmake --install build/release --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

clean: ## remove everything that was built
	rm -rf build
