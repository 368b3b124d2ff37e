# SPDX-License-Identifier: Apache-2.0
# Short commands around CMake. `make` alone builds.
.DEFAULT_GOAL := build
.PHONY: help dependencies build test tidy demo docs format package wheel install clean

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

help: ## this list
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22
	@echo "Variables: JOBS=$(JOBS) (compilers at a time), PREFIX=$(PREFIX) (for make install)"

dependencies: ## install the Debian packages that are missing
	@scripts/install-dependencies.sh

build: dependencies ## build with g++ -O3; the program is build/release/bin/sukima
	cmake --preset release
	cmake --build --preset release

test: dependencies ## build and run all tests: release, ThreadSanitizer, AddressSanitizer, format, models
	@scripts/test.sh

tidy: build ## clang-tidy with the static analyzer over all sources (make test leaves the analyzer out)
	@scripts/check-tidy.sh

demo: build ## compare Sukima with its peers on two problems: a table and a plot in build/demo
	@scripts/demo.sh

docs: build ## the reference as HTML in build/release/docs/html
	cmake --build --preset release --target docs

format: dependencies ## format the C and C++ sources
	@scripts/check-format.sh --fix

package: dependencies ## .deb packages and a .tar.gz for any folder, in build/release/packages
	cmake --preset release
	cmake --build --preset release --target sukima_packaged
	cd build/release && cpack

wheel: dependencies ## the Python package sukima as a wheel, in build/release/packages
	cmake --preset release
	cmake --build --preset release --target sukima_wheel

install: build ## install into PREFIX
	cmake --install build/release --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build
