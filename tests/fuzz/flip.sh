#!/bin/sh
# flip.sh FUZZ FOLDER OP...: each op's native lowering is made wrong, and the fuzzer must find it, shrink it and write it
# down as .air that holds the op and at most a few nodes. (Not for ops that functions such as exp are made of.)
fuzz=$1 folder=$2
shift 2
mkdir -p "$folder"
for op in "$@"; do
  rm -f "$folder"/*.air
  if "$fuzz" --seed 8 --count 4000 --mode-set interp,whole --flip "$op" --out "$folder" >"$folder/log" 2>&1; then
    echo "a wrong $op was not found" && exit 1
  fi
  found=$(ls "$folder"/*.air) || { cat "$folder/log"; echo "nothing was written for $op"; exit 1; }
  grep -q "= $op " "$found" || { cat "$found"; echo "the function shrunk for $op does not hold it"; exit 1; }
  nodes=$(grep -c ' at "' "$found")
  [ "$nodes" -le 12 ] || { cat "$found"; echo "$nodes nodes are left for $op"; exit 1; }
  echo "$op: found, $nodes nodes left"
done
