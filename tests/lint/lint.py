#!/usr/bin/env python3
"""Lints of the tree. usage: lint.py CHECK TOP [BUILD]; prints file:line: what is wrong, exits 1 when something is."""
import os
import re
import subprocess
import sys

LAYERS = [["base"], ["ir"], ["sem", "text", "verify"], ["opt"], ["rt"], ["interp", "trace", "native"], ["engine"], ["api"]]
found = []


def bad(path, line, text):
    found.append(f"{path}:{line}: {text}")


def files(top, folders, endings):
    for folder in folders:
        for root, _, names in os.walk(os.path.join(top, folder)):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.join(root, name)


def lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def layers(top, _build):
    level = {name: i for i, group in enumerate(LAYERS) for name in group}
    for path in files(top, ["src"], (".c", ".h", ".def", ".inc")):
        folder = os.path.relpath(path, os.path.join(top, "src")).split(os.sep)[0]
        if folder == "package":
            continue
        for number, text in enumerate(lines(path), 1):
            match = re.match(r'\s*#\s*include\s+[<"]([^">]+)[">]', text)
            if not match:
                continue
            name = match.group(1)
            first = name.split("/")[0]
            if first == "llvm-c" and folder != "native":
                bad(path, number, "only src/native may see llvm-c/")
            if folder == "cli":
                if first in level:
                    bad(path, number, f"cli is built on public headers alone, not on {name}")
            elif first == "cli" or (first in level and first != folder and level[first] >= level[folder]):
                bad(path, number, f"{folder} may not include {name}: it is not to its left")
            elif first == folder and not os.path.exists(os.path.join(top, "src", name)):
                bad(path, number, f"no such file: {name}")


def sizes(top, _build):
    for path in files(top, ["src", "include", "tests", "bench", "examples"], (".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".inc")):
        count = len(lines(path))
        if count > 600:
            bad(path, count, "more than 600 lines")
    seen = {}
    for path in files(top, ["src"], (".c",)):
        name = os.path.basename(path)
        if name in seen:
            bad(path, 1, f"the name is taken by {seen[name]}")
        seen[name] = path


def readmes(top, _build):
    for name in sorted(os.listdir(os.path.join(top, "src"))):
        folder = os.path.join(top, "src", name)
        if not os.path.isdir(folder) or not any(f.endswith(".c") for f in os.listdir(folder)):
            continue
        path = os.path.join(folder, "README.md")
        if not os.path.exists(path):
            bad(path, 1, "missing")
        elif len(lines(path)) > 60:
            bad(path, len(lines(path)), "more than 60 lines")


def marks(top, _build):
    pattern = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK|not imple" + r"mented|unimple" + r"mented)\b")
    for path in files(top, ["src", "include", "tests", "bench", "examples"], (".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".def", ".inc")):
        for number, text in enumerate(lines(path), 1):
            if pattern.search(text):
                bad(path, number, "unfinished mark")


def compiles(command, header):
    run = subprocess.run(command + ["-fsyntax-only", "-Werror", "-"], input=f'#include "{header}"\ntypedef int after_it;\n',
                         text=True, capture_output=True, check=False)
    return None if run.returncode == 0 else run.stderr.strip().splitlines()[0]


def headers(top, build):
    warn = ["-Wall", "-Wextra", "-Wpedantic"]
    public = ["-I", f"{top}/include", "-I", f"{build}/include"]
    names = [f"arrjit/{n}" for d in (f"{top}/include/arrjit", f"{build}/include/arrjit") for n in sorted(os.listdir(d))]
    cpp = [["c++", "-x", "c++", f"-std={standard}"] for standard in ("c++17", "c++23")]
    for name in names:
        if name.endswith((".h", ".hpp")):
            for command in cpp if name.endswith(".hpp") else (["cc", "-x", "c", "-std=c99"], cpp[0]):
                problem = compiles(command + warn + public, name)
                if problem:
                    bad(name, 1, f"{command[-1]}: {problem}")
    inner = ["cc", "-x", "c", "-std=gnu11", "-D_GNU_SOURCE", "-I", f"{top}/src"] + warn + public
    for path in files(top, ["src"], (".h",)):
        name = os.path.relpath(path, f"{top}/src")
        if not name.startswith(("native/", "cli/")):
            problem = compiles(inner, name)
            if problem:
                bad(path, 1, problem)


def declared(top, build):
    names = set()
    for path in list(files(top, ["include"], (".h",))) + list(files(build, ["include"], (".h",))):
        text = "\n".join(lines(path))
        for match in re.finditer(r"ARRJIT_API[^;{]*?\(?\b(arrjit_\w+)\)?\s*\(", text):
            names.add(match.group(1))
    return names


def symbols(path, *flags):
    out = subprocess.run(["nm", *flags, path], text=True, capture_output=True, check=True).stdout
    return [line.split() for line in out.splitlines() if line.strip()]


def exports(top, build):
    library = os.path.join(build, "libarrjit.so")
    got = {row[-1].split("@")[0] for row in symbols(library, "-D", "--defined-only")}
    want = declared(top, build)
    module = os.path.join(build, "libarrjit_native.so")
    entry = {"arrjit_native_entry"}
    for name in sorted(got - want - (set() if os.path.exists(module) else entry)):
        if not name.startswith(("__asan", "__tsan", "__ubsan", "__sanitizer")):
            bad(library, 0, f"exports {name}, which no public header declares")
    for name in sorted(want - got):
        bad(library, 0, f"{name} is declared in a public header and not exported")
    archive = os.path.join(build, "libarrjit.a")
    for row in symbols(archive, "--defined-only", "-g"):
        if len(row) >= 3 and not row[-1].startswith(("arrjit_", "aj_", "DW.ref.")): # the last: of the compiler, hidden
            bad(archive, 0, f"defines {row[-1]}: names begin with arrjit_ or aj_")
    if os.path.exists(module):
        got = {row[-1] for row in symbols(module, "-D", "--defined-only")}
        if got != entry:
            bad(module, 0, f"exports {', '.join(sorted(got))}, not {min(entry)} alone")


def globals_(top, build):
    """Mutable globals: only what belongs to the process or a thread by its nature, and says so in its name."""
    allowed = re.compile(r"^(process_|thread_)")
    objects = [os.path.join(build, "libarrjit.a"), *files(build, ["CMakeFiles/aj_native.dir"], (".o",))]
    for path in objects:
        out = subprocess.run(["objdump", "-t", path], text=True, capture_output=True, check=True).stdout
        for line in out.splitlines():
            match = re.match(r"[0-9a-f]{16} .{6}[O ] (\.t?bss|\.t?data)(?!\.rel\.ro)\S*\s+[0-9a-f]+ (?:\.hidden )?(\S+)$", line)
            if match and not match.group(2).startswith((".", "__", "DW.ref.")) and not allowed.match(match.group(2)):
                bad(path, 0, f"mutable global {match.group(2)}: state belongs to a context")


OP_ROW = r'^OP\((\w+), (\w+), "[^"]*", \w+, \w+, ([^,]*), [^"]*"([^"]*)", "([^"]*)", "([^"]*)"\)'


def ops(top, build):
    """Every builder row of the op table has its function and its page in ops.h: meaning, errors, example, source."""
    table = "\n".join(lines(os.path.join(top, "src/ir/ops.def")))
    reference = "\n".join(lines(os.path.join(build, "include/arrjit/ops.h")))
    pages = dict((name, page.replace("\n * ", " ")) for page, name in
                 re.findall(r"/\* ((?:(?!\*/).)*)\*/\nARRJIT_API \w+ arrjit_(\w+)\(", reference, re.S))
    rows = list(re.finditer(OP_ROW, table, re.M))
    for match in rows:
        name, flags, meaning, errors, source = match.group(2, 3, 4, 5, 6)
        if "F_BUILDER" not in flags and "F_ELEMENTWISE" not in flags:
            continue
        if name not in pages:
            bad("ops.h", 0, f"no builder for {name}, or no page")
            continue
        for what in (meaning, errors, source, "Example:"):
            if what.replace('\\"', '"') not in pages[name]:
                bad("ops.h", 0, f"the page of {name} lacks: {what}")
    missing = len(re.findall(r"^OP\(", table, re.M)) - len(rows)
    if missing:
        bad("src/ir/ops.def", 0, f"{missing} rows do not have the table's form")


def style(top, _build):
    tool = next((t for t in ("clang-format-19", "clang-format") if subprocess.run(
        ["sh", "-c", f"command -v {t}"], capture_output=True, check=False).returncode == 0), None)
    if tool != "clang-format-19":
        print("skipped: clang-format-19 is not installed")
        sys.exit(77)
    paths = list(files(top, ["src", "include", "tests", "bench", "examples"], (".c", ".h", ".cpp", ".hpp")))
    run = subprocess.run([tool, "--dry-run", "-Werror", *paths], text=True, capture_output=True, check=False)
    for text in run.stderr.splitlines():
        if "error:" in text:
            found.append(text)


CHECKS = {"layers": layers, "sizes": sizes, "readmes": readmes, "marks": marks, "headers": headers, "exports": exports,
          "globals": globals_, "ops": ops, "format": style}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: lint.py {{{'|'.join(CHECKS)}}} TOP [BUILD]")
    CHECKS[sys.argv[1]](sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
    print("\n".join(found) if found else "clean")
    sys.exit(1 if found else 0)
