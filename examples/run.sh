#!/usr/bin/env bash
# Installs what is missing (apt-get), builds the library and the examples, runs the main one on real input: the annual flow
# of the Nile through a compiled formula, and what each tier took. usage: examples/run.sh [EXAMPLE]
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
name=${1:-column}
"$top/tests/setup.sh" examples
build=${BUILD_DIR:-$top/build-examples}
cmake -G Ninja -S "$top" -B "$build" -DARRJIT_BUILD_TESTS=OFF -DARRJIT_BUILD_EXAMPLES=ON >"$build.log" 2>&1 ||
  { cat "$build.log"; exit 1; }
cmake --build "$build" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
rm -f "$build.log"
if [ ! -x "$build/examples/$name" ]; then
  echo "no example '$name'; there are: $(cd "$top/examples" && echo *.c *.cpp | sed 's/\.c\(pp\)\?//g')" >&2
  exit 2
fi
"$build/examples/$name" "$top/examples/data"
