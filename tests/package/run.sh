#!/usr/bin/env bash
# The three ways to use the library: find_package, add_subdirectory, pkg-config. usage: run.sh TOP BUILD
# BUILD is installed into a folder of its own; each consumer is built and run against that.
set -eu
top=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check() { # program: it must run, and have run native code where there is any
  local said
  said=$("$1")
  echo "$2: $said"
  case "$said" in
  *"native runs 1") ;;
  *) [ -z "$native" ] || { echo "$2: no native code was run"; exit 1; } ;;
  esac
}
native=$(sed -n 's/^ARRJIT_NATIVE:.*=\(module\|static\)$/\1/p' "$build/CMakeCache.txt")

cmake --install "$build" --prefix "$work/prefix" >/dev/null

cmake -S "$top/tests/package/installed" -B "$work/find" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/find" >/dev/null
for program in c_arrjit cpp_arrjit c_arrjit_static cpp_arrjit_static; do
  case $program in
  *static) [ "$native" = static ] || continue ;; # a static library finds the module by option native_path only
  esac
  check "$work/find/$program" "find_package $program"
done

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name arrjit.pc)")
# shellcheck disable=SC2046
cc -std=c99 "$top/tests/package/consumer.c" -o "$work/pc" $(pkg-config --cflags --libs arrjit)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir arrjit) check "$work/pc" pkg-config

cmake -G Ninja -S "$top/tests/package/subdirectory" -B "$work/sub" -DARRJIT_SOURCE="$top" -DARRJIT_NATIVE=off >/dev/null
cmake --build "$work/sub" >/dev/null
native='' check "$work/sub/c_arrjit" add_subdirectory
"$work/prefix/bin/arrjit" --version
