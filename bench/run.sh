#!/usr/bin/env bash
# Builds and runs the benchmarks: one row a case and mode, medians, ratio = peer / ours (above 1: we are faster).
# usage: bench/run.sh [--smoke] [--peers] [--filter NAME] [--json FILE]
#   --smoke   one short round of each case        --peers  numpy, numexpr, numba, jax beside, what is installed of them
#   --filter  only cases whose name holds NAME    --json   one object a line, and FILE.html with bars
# The peers are those of the python that PEERS_PYTHON names, else of python3.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$top/build-bench}
peers='' json='' all=1 filter='' args=()
while [ $# -gt 0 ]; do
  case $1 in
  --peers) peers=1 ;;
  --smoke) all='' && args+=("$1") ;;
  --filter) all='' && filter=$2 && args+=("$1" "$2") && shift ;;
  --json) json=$2 && args+=("$1" "$2") && shift ;;
  *) echo "usage: bench/run.sh [--smoke] [--peers] [--filter NAME] [--json FILE]" >&2 && exit 2 ;;
  esac
  shift
done

configure() { # folder, native
  cmake -G Ninja -S "$top" -B "$1" -DCMAKE_BUILD_TYPE=Release -DARRJIT_NATIVE="$2" -DARRJIT_BUILD_BENCH=ON \
    -DARRJIT_BUILD_TESTS=OFF -DARRJIT_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$1" >/dev/null
}
configure "$build" module
[ -z "$json" ] || : >"$json"
"$build/bench/arrjit-bench" ${args[@]+"${args[@]}"}

if [ -n "$all" ]; then
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
fi
[ -z "$peers" ] || "${PEERS_PYTHON:-python3}" "$top/bench/peers.py" "$build/bench/arrjit-bench" "$json" "$filter"
[ -z "$json" ] || python3 "$top/bench/page.py" "$json" >"$json.html"
