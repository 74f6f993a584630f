#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up a test run and prints "N passed, N failed[, N skipped]" as the last line.

usage: summary.py FOLDER
FOLDER holds lit's result files (*.json, from lit -o) and, in the file "checks", one line PASS or
FAIL for each style check. Exit code 1 when something failed or nothing passed.
"""
import json
import pathlib
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}


def main():
    folder = pathlib.Path(sys.argv[1])
    passed = failed = skipped = 0
    failures = []
    for path in sorted(folder.glob("*.json")):
        for test in json.loads(path.read_text())["tests"]:
            if test["code"] in PASSED:
                passed += 1
            elif test["code"] == "EXCLUDED":
                continue  # --filter left it out
            elif test["code"] in SKIPPED:
                skipped += 1
            else:
                failed += 1
                failures.append(f"{path.stem}: {test['name']} ({test['code']})")
    checks = folder / "checks"
    for line in checks.read_text().split() if checks.exists() else []:
        passed += line == "PASS"
        failed += line != "PASS"
    if failures:
        print("Failed:\n  " + "\n  ".join(failures))
    if not passed and not failed:
        print("No test ran.")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
