# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit: .mlir and .test files run their RUN lines; test/runs holds tests written in Python."""
import os
import shutil
import subprocess

import lit.formats

config.name = "Colrow"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "harness", "topologies", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.colrow_source, "test")
config.test_exec_root = os.path.join(config.colrow_build, "test")

tools = os.path.join(config.colrow_build, "bin")
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools, os.environ["PATH"]])
config.environment["PYTHONPATH"] = os.path.join(config.test_source_root, "harness")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["COLROW_BIN"] = tools
# Machines that need another BLAS kernel, or sanitizer options, say so in the environment.
for name, value in os.environ.items():
    if name.startswith(("OPENBLAS_", "COLROW_BLAS", "COLROW_ONEDNN", "COLROW_TORCHRUN", "ASAN_OPTIONS", "UBSAN_OPTIONS",
                        "LSAN_OPTIONS")):
        config.environment[name] = value
if config.sanitize:
    config.available_features.add("sanitize")
    config.environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    # MLIR's own libraries are not instrumented and reuse memory that our code has poisoned.
    config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")

# Processes of an MPI, where the build has found it; torchrun's; those of two machines, where network
# namespaces can be made; in a cluster of Slurm's daemons, where they are installed. MPI's libraries leak,
# and replace functions that sanitizers replace too.
for mpi in () if config.sanitize else ("openmpi", "mpich"):
    plugin = os.path.join(config.colrow_build, "lib", "colrow", f"libcolrow-mpi-{mpi}.so")
    if os.path.exists(plugin) and shutil.which(f"mpirun.{mpi}"):
        config.available_features.add(mpi)
if shutil.which(os.environ.get("COLROW_TORCHRUN", "torchrun")):
    config.available_features.add("torchrun")
two_machines = os.path.join(config.test_source_root, "harness", "two-machines")
if subprocess.run(["timeout", "-k", "1", "20", two_machines, "true"], stdin=subprocess.DEVNULL,
                  capture_output=True).returncode == 0:
    config.available_features.add("two-machines")
    if all(map(shutil.which, ("srun", "slurmctld", "slurmd", "munged"))):
        config.available_features.add("slurm")

config.substitutions += [
    ("%python", config.python),
    ("%cases", os.path.join(config.test_source_root, "cases")),
    ("%topologies", os.path.join(config.test_source_root, "topologies")),
    ("%test_source", config.test_source_root),
]
