/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What tp-run wants of an MPI library. A plug-in is built once for each MPI,
 * since their handles and constants differ; tp-run itself links none. No call
 * waits but init and finalize. All return MPI's error code, 0 for success. */

#ifndef COLROW_RUNTIME_MPI_PLUGIN_H
#define COLROW_RUNTIME_MPI_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with anything below. */
#define COLROW_MPI_ABI 1u
#define COLROW_MPI_TEXT 256

typedef struct {
  uint32_t rank, size;
  uint32_t max_tag;
  char library[COLROW_MPI_TEXT]; /* name and version, one line */
} ColrowMpiWorld;

/* Calls but init and finalize may come from several threads at once. */
typedef struct {
  uint32_t abi;
  int (*init)(ColrowMpiWorld *world);
  /* Memory stays the library's until test() says that the message is done. At
   * most 2^30 bytes. Messages of one sender with one tag keep their order. */
  int (*send)(const void *from, uint64_t bytes, uint32_t to, uint32_t tag,
              uint64_t *request);
  int (*receive)(void *to, uint64_t bytes, uint32_t from, uint32_t tag,
                 uint64_t *request);
  int (*test)(uint64_t *request, int *is_done);
  /* Moves what is under way. */
  int (*progress)(void);
  /* The orderly end, where the library needs one. */
  int (*finalize)(void);
  /* Of a code that is not 0. */
  void (*describe)(int code, char text[COLROW_MPI_TEXT]);
} ColrowMpi;

const ColrowMpi *colrow_mpi(void);

#ifdef __cplusplus
}
#endif

#endif
