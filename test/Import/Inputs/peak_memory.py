# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""peak_memory.py MIB COMMAND...: runs it; fails with its exit code, or if its resident memory exceeded MIB."""
import resource, subprocess, sys

code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"peak {peak:.1f} MiB")
sys.exit(code or (peak > float(sys.argv[1]) and "more than allowed"))
