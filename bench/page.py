#!/usr/bin/env python3
"""A page of bars from the JSON lines of bench/run.sh. usage: page.py RESULTS.json > page.html"""
import html
import json
import math
import sys

WIDTH, BAR, LEFT = 420, 16, 430


def bar(row, y):
    """Log scale from 1/32 to 32, 1 in the middle."""
    ratio = min(32.0, max(1 / 32, row["ratio"]))
    middle = LEFT + WIDTH / 2
    length = math.log2(ratio) / 5 * WIDTH / 2
    x, color = (middle, "#2a7f4f") if length >= 0 else (middle + length, "#b0522d")
    name = f'{row["case"]}  n={row["n"]}  {row["dtype"]}  {row["mode"]}'
    figure = f'{row["ours_ns"]:.3g} ns a {row["unit"]}, {row["peer"]} {row["peer_ns"]:.3g} ns'
    return (f'<text x="0" y="{y + 12}">{html.escape(name)}</text>'
            f'<rect x="{x:.1f}" y="{y}" width="{abs(length):.1f}" height="{BAR - 4}" fill="{color}"/>'
            f'<text x="{LEFT + WIDTH + 10}" y="{y + 12}">{row["ratio"]:.2f}  ({html.escape(figure)})</text>')


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: page.py RESULTS.json > page.html")
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    paired = [row for row in rows if row["peer"] != "none"]
    alone = [row for row in rows if row["peer"] == "none"]
    height = BAR * len(paired) + 10
    print("<!doctype html><meta charset='utf-8'><title>libarrjit: benchmarks</title>"
          "<style>body{font:13px sans-serif;margin:2em}text{font:12px sans-serif}td{padding:0 1em}</style>"
          "<h1>Benchmarks</h1><p>Ratio = peer / ours, medians of one run: bars to the right are cases where the library is faster. "
          "Log scale, from 1/32 to 32.</p>")
    print(f'<svg width="{LEFT + WIDTH + 380}" height="{height}">'
          f'<line x1="{LEFT + WIDTH / 2}" x2="{LEFT + WIDTH / 2}" y1="0" y2="{height}" stroke="#888"/>')
    for index, row in enumerate(paired):
        print(bar(row, index * BAR))
    print("</svg><h2>Without a peer</h2><table>")
    for row in alone:
        print(f'<tr><td>{html.escape(row["case"])}<td>n={row["n"]}<td>{row["dtype"]}<td>{row["mode"]}'
              f'<td>{row["ours_ns"]:.4g} ns a {html.escape(row["unit"])}')
    print("</table>")


if __name__ == "__main__":
    main()
