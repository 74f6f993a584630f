# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""file_limit.py COMMAND...: runs it where no file may exceed 4 KiB, and prints its exit code."""
import resource, subprocess, sys

def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

result = subprocess.run(sys.argv[1:], preexec_fn=limit, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(result.stdout, end="")
print("exit code", result.returncode)
