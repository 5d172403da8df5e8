#!/bin/sh
# check.sh PROGRAM MODE FILE LEAST [OPTIONS]: runs a corpus that lives outside the tree, LEAST cases of which must pass; 77
# (skipped) when it is not there.
if [ -z "${ARRJIT_CORPORA:-}" ] || [ ! -f "$ARRJIT_CORPORA/$3" ]; then
  echo "ARRJIT_CORPORA does not name a folder with $3: skipped"
  exit 77
fi
program=$1 mode=$2 file=$ARRJIT_CORPORA/$3 least=$4
shift 4
exec "$program" --mode "$mode" --least "$least" "$@" "$file"
