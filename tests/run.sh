#!/bin/bash
# Build and run every test; installs what is missing (tests/setup.sh).
#   tests/run.sh [--build DIR] [--label REGEX] [--exclude REGEX] [-D...]
# Ends in one line "N passed, N failed, N skipped" that counts test functions; exits 1 when one failed.
#   --build DIR      build folder (build)
#   --label REGEX    only tests with such a label (tests/README.md)
#   --exclude REGEX  without tests that have such a label
#   -DNAME=VALUE     for cmake, such as -DARRJIT_NATIVE=off, -DARRJIT_SANITIZE=address,undefined, -DARRJIT_LLVM=22
# Environment: CC (compiler), ARRJIT_CORPORA (folder of corpora; tests of them are skipped without), ARRJIT_JOBS,
# ARRJIT_NO_SETUP=1 (install nothing).
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd) root=$(dirname "$here")
build=$root/build ctest_args=() cmake_args=()
usage() { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while (($#)); do
  case $1 in
    -D*) cmake_args+=("$1") ;;
    --build) build=${2-}; shift ;;
    --label) ctest_args+=(-L "${2-}"); shift ;;
    --exclude) ctest_args+=(-LE "${2-}"); shift ;;
    *) usage ;;
  esac
  shift || usage
done
[[ -n $build ]] || usage
[[ ${ARRJIT_NO_SETUP:-} == 1 ]] || "$here/setup.sh" core tests
jobs=${ARRJIT_JOBS:-$(nproc)}

log=$build.log
mkdir -p "$build"
say() { echo "tests: $*" >&2; }
configure=(cmake -G Ninja -S "$root" -B "$build" -DARRJIT_BUILD_TESTS=ON "${cmake_args[@]}")
if ! { "${configure[@]}" && cmake --build "$build" -j "$jobs"; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  say "the build failed (all of it: $log)"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

# Sanitizers: leaks are failures; LLVM, which is not instrumented, is left alone.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:detect_stack_use_after_return=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$here/support/tsan.supp}
# use_tls=0: its tracer may crash in the storage of a thread that is just ending
export LSAN_OPTIONS=${LSAN_OPTIONS:-use_tls=0:suppressions=$here/support/lsan.supp}
status=0
ctest --test-dir "$build" -j "$jobs" --output-on-failure "${ctest_args[@]}" | tee "$build/ctest.txt" || status=$?
# Which tests were skipped stands only in what ctest prints at its end.
awk -v status="$status" -f "$here/support/count.awk" "$build/Testing/Temporary/LastTest.log" \
  <(sed -n '/^The following tests did not run:/,$p' "$build/ctest.txt")
