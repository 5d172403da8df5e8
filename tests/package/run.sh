#!/usr/bin/env bash
# The three ways to use the library: find_package, pkg-config, add_subdirectory. usage: run.sh TOP BUILD
# BUILD is installed into a folder that is then moved; each consumer is built and run against that.
set -eu
top=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
native=$(cached ARRJIT_NATIVE)

quiet() { # command...: shows what it printed only when it fails
  "$@" >"$work/log" 2>&1 || { echo "failed: $*" && tail -n 40 "$work/log" && exit 1; }
}
check() { # name program [argument]: it must run, and have run native code where there is any
  local name=$1 said
  shift
  said=$("$@") || { echo "$name: exit code $?" && exit 1; }
  echo "$name: $said"
  case "$native $said" in
  "off "*"native runs 0" | [ms]*"native runs 1") ;;
  *) echo "$name: with native code '$native'?" && exit 1 ;;
  esac
}

quiet cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
module=$(find "$work/prefix" -name libarrjit_native.so)
case "$native" in
module) [ -n "$module" ] ;;
*) [ -z "$module" ] ;;
esac || { echo "native code is '$native', its module installed as '$module'" && exit 1; }

quiet cmake -G Ninja -S "$top/tests/package/installed" -B "$work/find" -DCMAKE_PREFIX_PATH="$work/prefix"
quiet cmake --build "$work/find"
for language in c cpp hpp; do
  check "find_package, $language" "$work/find/${language}_arrjit"
  check "find_package, $language, static" "$work/find/${language}_arrjit_static" ${module:+"$module"}
done
if [ -n "$module" ]; then # a static program finds the module in arrjit/ beside itself, too
  ln -s "$(dirname "$module")" "$work/find/arrjit"
  check "find_package, c, static, module beside it" "$work/find/c_arrjit_static"
fi

export PKG_CONFIG_PATH LD_LIBRARY_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name arrjit.pc)")
LD_LIBRARY_PATH=$(pkg-config --variable=libdir arrjit)
read -ra flags <<<"$(pkg-config --cflags --libs arrjit)"
quiet cc -std=c99 "$top/tests/package/consumer.c" -o "$work/with_pc" "${flags[@]}"
check "pkg-config" "$work/with_pc"
read -ra flags <<<"$(pkg-config --static --cflags --libs arrjit)"
quiet cc -std=c99 "$top/tests/package/consumer.c" -o "$work/with_pc_static" -Wl,-Bstatic "${flags[0]}" "${flags[1]}" -larrjit \
  -Wl,-Bdynamic "${flags[@]:3}"
check "pkg-config --static" "$work/with_pc_static" ${module:+"$module"}
unset LD_LIBRARY_PATH

quiet "$work/prefix/bin/arrjit" --version

quiet cmake -G Ninja -S "$top/tests/package/subdirectory" -B "$work/sub" -DARRJIT_SOURCE="$top" -DARRJIT_NATIVE="$native" \
  -DARRJIT_LLVM="$(cached ARRJIT_LLVM)"
quiet cmake --build "$work/sub" --target c_arrjit
check "add_subdirectory" "$work/sub/c_arrjit"
