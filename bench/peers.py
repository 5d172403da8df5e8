#!/usr/bin/env python3
"""Array libraries of Python beside ours: numpy, and numexpr, numba and jax where installed. usage: peers.py BENCH [JSON [CASE]]

Each round times every peer and then starts arrjit-bench for the same case, so that all see the same state of the machine; medians
over the rounds. Results are compared before they are timed. Peers run on one thread, into buffers that are given. Of a callback that
fails it is also told what its caller gets. Only cases whose name holds CASE are run."""
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import numpy as np
except ImportError:
    sys.exit("numpy is not installed: no peers to compare with")

ROUNDS, SIZES = 5, (1000, 1000000, 16000000)
FAILING = """air 1
slot value f(f64) -> (f64)
func @main(%x: f64) -> (f64 "y") {
  %0 = callback %x {slot = f} : f64
  yield %0
}
"""


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


def time_ns(run, calls):
    start = time.perf_counter_ns()
    for _ in range(calls):
        run()
    return (time.perf_counter_ns() - start) / calls


def ours(bench, case, n, dtype):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([bench, "--filter", case, "--json", file.name], check=True, stdout=subprocess.DEVNULL)
        rows = [json.loads(line) for line in open(file.name, encoding="utf-8")]
    return {(row["case"], row["n"]): row["ours_ns"] for row in rows if row["mode"] == "whole" and row["dtype"] == dtype}[case, n]


def compare(bench, path, case, n, dtype, unit, peers, calls):
    """A round is so many calls of each peer's run, whose time is that of n elements or of one call."""
    times, mine, units = {name: [] for name, _ in peers}, [], n if unit == "element" else 1
    for _ in range(ROUNDS):
        for name, run in peers:
            times[name].append(time_ns(run, calls) / units)
        mine.append(ours(bench, case, n, dtype))
    for name, _ in peers:
        us, them = statistics.median(mine), statistics.median(times[name])
        print(f"{case:<14} n={n:<9} {dtype}  whole  {us:12.3f} ns/{unit}    {name:<18} {them:12.3f} ns  ratio {them / us:.2f}")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                print(json.dumps({"case": case, "n": n, "dtype": dtype, "threads": 1, "mode": "whole", "unit": unit,
                                  "ours_ns": us, "peer": name, "peer_ns": them, "ratio": them / us}), file=file)


# ---- a callback that fails ----

def no_value(x):
    raise ValueError(f"no value for {x}")


def failing_calls():
    """(name, a call of compiled code whose callback raises)"""
    try:
        import numba

        @numba.njit
        def run(x):
            with numba.objmode(y="float64"):
                y = no_value(x)
            return y
        yield "numba objmode", lambda: run(0.0)
    except ImportError:
        print("callback_fail: numba is not installed")
    try:
        import jax
        jax.config.update("jax_enable_x64", True)
        call = jax.jit(lambda x: jax.pure_callback(no_value, jax.ShapeDtypeStruct((), np.float64), x))
        zero = jax.numpy.float64(0)
        yield "jax pure_callback", lambda: call(zero).block_until_ready()
    except ImportError:
        print("callback_fail: jax is not installed")


def caught(run):
    try:
        run()
    except Exception as error:
        return error
    raise AssertionError("the callback did not fail")


def tell_failure(name, run):
    """What the caller gets, and whether it is what was raised."""
    error = caught(run)
    lines, origin = str(error).strip().splitlines(), error
    while origin and not isinstance(origin, ValueError):
        origin = origin.__cause__ or origin.__context__
    same = "what the callback raised" if origin is error else "its cause what the callback raised" if origin else "the callback's own is gone"
    text = " ... ".join(dict.fromkeys((lines[0], lines[-1])))
    print(f"  {name}: {type(error).__module__}.{type(error).__name__}, lines: {len(lines)}, {same}: {text}"[:300])


def tell_ours(bench):
    command = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(bench))), "bin", "arrjit")
    if not os.path.exists(command):
        return
    with tempfile.NamedTemporaryFile("w", suffix=".air") as file:
        file.write(FAILING)
        file.flush()
        run = subprocess.run([command, "run", file.name, "--arg", "x=0", "--bind", "f=!no value for 0"], capture_output=True, text=True)
    print("  arrjit: " + " | ".join(line.strip() for line in run.stdout.splitlines()[1:]))


def compare_failures(bench, path):
    logging.disable(logging.CRITICAL)  # jax logs each failure with its traceback
    calls = list(failing_calls())
    print("callback_fail: what the caller gets")
    tell_ours(bench)
    for name, run in calls:
        tell_failure(name, run)
    if calls:
        compare(bench, path, "callback_fail", 1, "f64", "call", [(name, lambda run=run: caught(run)) for name, run in calls], 200)


# ---- arrays ----

def compare_arrays(bench, path, wanted):
    for n in SIZES:
        a, b, c = (np.array([((i * 7 + k * 13) % 101) / 8 for i in range(101)], np.float32) for k in range(3))
        a, b, c = (np.resize(x, n) for x in (a, b, c))
        out, scratch, want = np.empty(n, np.float32), np.empty(n, np.float32), 2 * a + 3 * b * c - a * b
        for case, peers in (("chain", chains()), ("sum", [("numpy", lambda x, *_: x.sum())])):
            if wanted not in case:
                continue
            calls = [(name, lambda run=run: run(a, b, c, out, scratch)) for name, run in peers]
            for name, run in calls:
                got = run()
                assert case == "sum" or np.array_equal(got, want), name
            compare(bench, path, case, n, "f32", "element", calls, max(1, int(4e6 / n)))


def main():
    bench, path, wanted = (sys.argv[1:] + ["", ""])[:3]
    compare_arrays(bench, path, wanted)
    if wanted in "callback_fail":
        compare_failures(bench, path)


if __name__ == "__main__":
    main()
