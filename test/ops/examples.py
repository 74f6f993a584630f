#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the IR examples of *.td files below the folders given, completed, one module each: what
op-test takes ops from."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
import check_descriptions  # noqa: E402

pages = sorted(p for folder in sys.argv[1:] for p in pathlib.Path(folder).rglob("*.td"))
print("\n// -----\n".join(check_descriptions.complete(block)[0]
                         for page in pages for _, block in check_descriptions.blocks(page)))
