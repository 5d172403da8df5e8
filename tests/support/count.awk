# Sums cmocka's test functions over a ctest log, and what ctest printed of tests that did not run. A test of another kind
# counts only when it failed or was skipped; a program that died before it could say what failed counts as one failure.
# Last line: "N passed, N failed, N skipped".
function number(before) { match($0, before " [0-9]+"); return substr($0, RSTART + 10) + 0 }
function close_test() {
  if (!open) return
  if (!functions) others++
  if (outcome == "Failed" && !said) failed++
  open = 0
}
/^[0-9]+\/[0-9]+ Testing: / { close_test(); open = 1; functions = said = 0; outcome = "" }
/\[  PASSED  \] [0-9]+ test/ { passed += number("PASSED  \\]"); functions = 1 }
/\[  FAILED  \] [0-9]+ test/ { failed += number("FAILED  \\]"); functions = said = 1 }
/\[  SKIPPED \] [0-9]+ test/ { skipped += number("SKIPPED \\]"); functions = 1 }
/^Test Failed\.$/ { outcome = "Failed" }
/^Test Passed\.$/ { outcome = "Passed" }
/^\t *[0-9]+ - .* \(Skipped\)$/ { skipped++; others-- }
END {
  close_test()
  if (status && !failed) failed = 1
  printf "tests that are no functions (tools, lints, packages): %d\n", others
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit failed > 0 || status != 0
}
