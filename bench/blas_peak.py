#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""float32 GFLOP/s of the system's OpenBLAS with one thread on each of N cores at once.

usage: blas_peak.py [CORES]      prints one number; standard library only
"""
import ctypes
import ctypes.util
import multiprocessing
import os
import random
import sys
import time

SIZE, REPEATS = 1536, 5


def measure(barrier):
    """Best GFLOP/s of one thread while the other processes do the same."""
    blas = ctypes.CDLL(ctypes.util.find_library("openblas") or "libopenblas.so.0")
    blas.openblas_set_num_threads(1)
    # Values do not change the time, as long as they are no denormals.
    row = [random.uniform(-1, 1) for _ in range(SIZE)]
    a, b, c = ((ctypes.c_float * (SIZE * SIZE))(*row * SIZE) for _ in range(3))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    best = float("inf")
    barrier.wait()
    for _ in range(REPEATS):
        start = time.perf_counter()
        blas.cblas_sgemm(101, 111, 111, SIZE, SIZE, SIZE, one, a, SIZE, b, SIZE, zero, c, SIZE)
        best = min(best, time.perf_counter() - start)
    return 2 * SIZE ** 3 / best / 1e9


def worker(barrier, results):
    results.put(measure(barrier))


def peak(cores):
    barrier, results = multiprocessing.Barrier(cores), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=worker, args=(barrier, results)) for _ in range(cores)]
    for process in workers:
        process.start()
    total = sum(results.get(timeout=120) for _ in workers)
    for process in workers:
        process.join()
    return total


if __name__ == "__main__":
    print(f"{peak(int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count()):.1f}")
