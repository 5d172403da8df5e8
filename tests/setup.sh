#!/bin/bash
# Install what building and testing libarrjit needs, on Debian and its kin:
#   tests/setup.sh [core] [examples] [tests] [ci]     (no argument: core)
#   core      compiler, cmake, ninja, pkg-config, libffi, LLVM 19
#   examples  core + gsl
#   tests     core + cmocka, jansson, mpfr, gsl; LAPACK, without which tests of linear algebra are skipped
#   ci        tests + git, clang-format, clang's sanitizers; clang and LLVM 22 where the release has them
# Asks dpkg first, so it does nothing when all is there; else apt-get, as root
# or through sudo. Exits 1 when something needed is lacking and says what.
set -euo pipefail
export LC_ALL=C

need=(gcc g++ libc6-dev cmake ninja-build pkgconf libffi-dev llvm-19-dev)
tests=(libcmocka-dev libjansson-dev libmpfr-dev libgsl-dev)
extra=() # installed all together or not at all; lacking them is no error, nor is
lapack=() # lacking this one
for group in "$@"; do
  case $group in
    core) ;;
    examples) need+=(libgsl-dev) ;;
    tests) need+=("${tests[@]}") lapack=(liblapack3) ;;
    ci)
      need+=("${tests[@]}" git clang-19 libclang-rt-19-dev clang-format-19)
      lapack=(liblapack3)
      extra=(llvm-22-dev clang-22 libclang-rt-22-dev)
      ;;
    *) echo "setup: no package group '$group' (core, examples, tests, ci)" >&2 && exit 2 ;;
  esac
done

say() { echo "setup: $*" >&2; }
lacking() { # PACKAGE...: prints those that are not installed
  comm -13 <(dpkg -s "$@" 2>/dev/null | awk '/^Package:/{p=$2} /^Status: .* installed$/{print p}' | sort) \
    <(printf '%s\n' "$@" | sort -u) | tr '\n' ' '
}
if ! command -v dpkg >/dev/null || ! command -v apt-get >/dev/null; then
  say "no dpkg and apt-get here: nothing checked or installed; needed (Debian's names): ${need[*]}"
  exit 0
fi
want=$(lacking "${need[@]}") more=$([[ -z ${extra[*]} ]] || lacking "${extra[@]}")
some=$([[ -z ${lapack[*]} ]] || lacking "${lapack[@]}")
[[ -n $want$more$some ]] || exit 0

sudo=()
if ((EUID)); then
  sudo=(sudo)
  if ! command -v sudo >/dev/null || ! { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
    [[ -z $more$some ]] || say "neither root nor sudo here, going on without: $more$some"
    [[ -z $want ]] || { say "neither root nor sudo here, lacking: $want" && exit 1; }
    exit 0
  fi
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { # asks nothing, waits for another apt-get to end
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 \
    -o Acquire::Retries=2 -o Acquire::http::Timeout=30 --no-install-recommends "$@" >>"$log" 2>&1
}
say "installing $want$more$some"
apt update || { sleep 5 && apt update; } || true # the lists' lock is not waited for
if [[ -n $want ]] && ! { read -ra list <<<"$want" && apt install "${list[@]}"; }; then
  tail -n 15 "$log" >&2
  say "apt-get could not install (no network, or not in this release?): $(lacking "${need[@]}")" && exit 1
fi
for optional in "$some" "$more"; do
  if [[ -n $optional ]] && ! { read -ra list <<<"$optional" && apt install "${list[@]}"; }; then
    say "not to be had in this release, going on without: $optional"
  fi
done
