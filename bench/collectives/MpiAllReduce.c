/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Open MPI's own all-reduce of float32 between two processes, when it is asked
 * for: lines "BYTES CALLS" on standard input, seconds of a call on output. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { largest = 64 << 20 };

/* The turn that rank 0 was told; nobody burns a core while others have theirs.
 */
static int next(int rank, long long turn[2]) {
  MPI_Request request;
  int is_done = 0;
  turn[0] = 0;
  if (rank == 0 && scanf("%lld %lld", &turn[0], &turn[1]) != 2)
    turn[0] = 0;
  MPI_Ibcast(turn, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD, &request);
  while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), !is_done)
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  return turn[0] > 0 && turn[0] <= largest;
}

static void reduce(const float *from, float *to, long long bytes) {
  MPI_Allreduce(from, to, (int)(bytes / (long long)sizeof(float)), MPI_FLOAT,
                MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float *from = malloc(largest), *to = malloc(largest);
  if (!from || !to)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < largest / sizeof(float); ++i)
    from[i] = to[i] = 1;
  for (long long turn[2]; next(rank, turn);) {
    for (int i = 0; i < 32; ++i)
      reduce(from, to, sizeof(float));
    double begin = MPI_Wtime();
    for (long long i = 0; i < turn[1]; ++i)
      reduce(from, to, turn[0]);
    if (rank == 0) {
      printf("%.9g\n", (MPI_Wtime() - begin) / (double)turn[1]);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
