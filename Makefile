# A thin front end: Meson builds, tools/ and tests/ do the work. Every target installs what it lacks.
#
#   make            build in build/                    make lint      all checks of the source
#   make demo       build and analyse real recordings  make fuzz      fuzz every parser for a while
#   make test       all tests, with sanitizers         make bench     speed and memory against peers
#   make coverage   tests with line coverage           make dist      portable tarball in dist/
#   make install    PREFIX=/usr/local, DESTDIR=        make clean

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
NINJA = ninja
SETUP = meson setup --prefix $(PREFIX)

# Unit tests that start threads: these run under ThreadSanitizer as well.
THREADED = stream host_sampler inject disassembler

.NOTPARALLEL:
.PHONY: all demo test lint fuzz bench coverage dist install clean
# Order only: looked at every time, which takes 0.1 s when nothing is missing, and never a reason to build again.
setup-%:
	@tools/setup.sh $*

all: build/build.ninja
	@$(NINJA) -C build

# Just the program: tests have builds of their own.
build/build.ninja: | setup-build
	@$(SETUP) -Dtests=disabled build

demo: all
	@tools/demo.sh build/src/cmd/warplight

# Leaks, overflows and undefined behaviour end a test; data races end the threaded ones. The checks that
# sanitizers insert make gcc see paths that cannot be, so what it concludes from them is no error here.
SANITIZE = CC=gcc $(SETUP) -Dtests=enabled -Db_lundef=false \
	-Dc_args='-Wno-error=nonnull -Wno-error=maybe-uninitialized -Wno-error=stringop-overflow -Wno-error=format-overflow'

build-asan/build.ninja: | setup-test
	@$(SANITIZE) -Db_sanitize=address,undefined build-asan

build-tsan/build.ninja: | setup-test
	@$(SANITIZE) -Db_sanitize=thread build-tsan

test: build-asan/build.ninja build-tsan/build.ninja
	@THREADED="$(THREADED)" tools/test.sh

lint: all | setup-lint
	@tools/lint/run.sh build/src/cmd/warplight

build-fuzz/build.ninja: | setup-fuzz
	@CC=clang $(SETUP) -Dtests=enabled -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false build-fuzz

fuzz: build-fuzz/build.ninja
	@tools/fuzz.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ_RUNS)

build-release/build.ninja: | setup-test
	@$(SETUP) -Dtests=enabled --buildtype=release build-release

bench: build-release/build.ninja
	@$(NINJA) -C build-release
	@python3 tests/bench/bench.py --build build-release $(BENCH_FLAGS)
	@python3 tests/bench/sample_cost.py --build build-release
	@python3 tests/bench/top_cost.py --build build-release

build-coverage/build.ninja: | setup-coverage
	@CC=gcc $(SETUP) -Dtests=enabled -Db_coverage=true build-coverage

coverage: build-coverage/build.ninja
	@meson test -C build-coverage
	@gcovr --root . --filter src/ --print-summary build-coverage

dist: | setup-dist
	@tools/dist.sh

install: all
	@meson configure build -Dprefix=$(PREFIX)
	@meson install -C build --no-rebuild $(if $(DESTDIR),--destdir "$(abspath $(DESTDIR))")

clean:
	rm -rf build build-asan build-tsan build-fuzz build-release build-coverage build-dist dist
