#!/usr/bin/env bash
# The tests of the C++ headers built by another compiler or for another standard, without a warning, and run.
# usage: build.sh COMPILER STANDARD BUILD [MORE FOR THE COMPILER...]; exits 77 when there is no such compiler
set -eu
compiler=$1 standard=$2 build=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
command -v "$compiler" >/dev/null || { echo "skipped: no $compiler here" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra libraries <<<"$(pkg-config --cflags --libs cmocka jansson)"
for source in "$here"/*_test.cpp; do
  program=$work/$(basename "$source" .cpp)
  "$compiler" "-std=$standard" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -pthread \
    -I"$here" -I"$here/../support" -I"$here/../../include" -I"$build/include" "$source" -o "$program" \
    "$@" -L"$build" -Wl,-rpath,"$build" -larrjit "${libraries[@]}" -lm
  "$program" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
done
echo "$compiler $standard: clean"
