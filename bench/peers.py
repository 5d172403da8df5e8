#!/usr/bin/env python3
"""Array libraries of Python beside ours: numpy, and numexpr and numba where installed. usage: peers.py BENCH [JSON]

Each round times every peer and then starts arrjit-bench for the same case, so that all see the same state of the machine; medians
over the rounds. Results are compared before they are timed. Peers run on one thread, into buffers that are given."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
try:
    import numpy as np
except ImportError:
    sys.exit("numpy is not installed: no peers to compare with")

ROUNDS, SIZES = 5, (1000, 1000000, 16000000)


def chain_numpy(a, b, c, out, scratch):
    np.multiply(a, 2, out=out)
    np.multiply(b, 3, out=scratch)
    np.multiply(scratch, c, out=scratch)
    np.add(out, scratch, out=out)
    np.multiply(a, b, out=scratch)
    return np.subtract(out, scratch, out=out)


def chains():
    yield "numpy", chain_numpy
    try:
        import numexpr
        yield "numexpr", lambda a, b, c, out, _: numexpr.evaluate("2*a + 3*b*c - a*b", out=out, casting="same_kind")
    except ImportError:
        pass
    try:
        import numba

        @numba.njit(boundscheck=False)
        def run(a, b, c, out):
            for i in range(a.size):
                out[i] = np.float32(2) * a[i] + np.float32(3) * b[i] * c[i] - a[i] * b[i]

        def numba_chain(a, b, c, out, _):
            run(a, b, c, out)
            return out
        yield "numba", numba_chain
    except ImportError:
        pass


def time_ns(run, count):
    calls = max(1, int(4e6 / max(1, count)))
    start = time.perf_counter_ns()
    for _ in range(calls):
        run()
    return (time.perf_counter_ns() - start) / calls / count


def ours(bench, case, n):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([bench, "--filter", case, "--json", file.name], check=True, stdout=subprocess.DEVNULL)
        rows = [json.loads(line) for line in open(file.name, encoding="utf-8")]
    return {row["n"]: row["ours_ns"] for row in rows if row["mode"] == "whole" and row["dtype"] == "f32"}[n]


def main():
    bench, path = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    for n in SIZES:
        a, b, c = (np.array([((i * 7 + k * 13) % 101) / 8 for i in range(101)], np.float32) for k in range(3))
        a, b, c = (np.resize(x, n) for x in (a, b, c))
        out, scratch, want = np.empty(n, np.float32), np.empty(n, np.float32), 2 * a + 3 * b * c - a * b
        for case, peers in (("chain", list(chains())), ("sum", [("numpy", lambda x, *_: x.sum())])):
            times, mine = {name: [] for name, _ in peers}, []
            for name, run in peers:
                got = run(a, b, c, out, scratch)
                assert case == "sum" or np.array_equal(got, want), name
            for _ in range(ROUNDS):
                for name, run in peers:
                    times[name].append(time_ns(lambda run=run: run(a, b, c, out, scratch), n))
                mine.append(ours(bench, case, n))
            for name, _ in peers:
                us, them = statistics.median(mine), statistics.median(times[name])
                print(f"{case:<14} n={n:<9} f32  whole  {us:12.3f} ns/element    {name:<12} {them:12.3f} ns  ratio {them / us:.2f}")
                if path:
                    with open(path, "a", encoding="utf-8") as file:
                        print(json.dumps({"case": case, "n": n, "dtype": "f32", "threads": 1, "mode": "whole", "unit": "element",
                                          "ours_ns": us, "peer": name, "peer_ns": them, "ratio": them / us}), file=file)


if __name__ == "__main__":
    main()
