#!/usr/bin/env bash
# Builds and runs the benchmarks: one row a case and mode, medians, ratio = peer / ours (above 1: we are faster).
# usage: bench/run.sh [--smoke] [--filter NAME] [--json FILE]
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$top/build-bench}
args=("$@")

configure() { # folder, native
  cmake -G Ninja -S "$top" -B "$1" -DCMAKE_BUILD_TYPE=Release -DARRJIT_NATIVE="$2" -DARRJIT_BUILD_BENCH=ON \
    -DARRJIT_BUILD_TESTS=OFF -DARRJIT_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$1" >/dev/null
}
configure "$build" module
"$build/bench/arrjit-bench" ${args[@]+"${args[@]}"}

case " ${args[*]-} " in *" --smoke "* | *" --filter "*) exit 0 ;; esac

# A fresh process' first result, with native code to be had and without, in turn.
configure "$build-off" off
with=() without=()
for _ in $(seq 25); do
  with+=("$("$build/bench/arrjit-fresh")")
  without+=("$("$build-off/bench/arrjit-fresh")")
done
median() { printf '%s\n' "$@" | sort -n | sed -n '13p'; }
a=$(median "${with[@]}") b=$(median "${without[@]}")
awk -v a="$a" -v b="$b" 'BEGIN { printf "fresh process, first result in auto: %.1f us; native off: %.1f us; ratio %.2f\n", a / 1e3, b / 1e3, a / b }'
