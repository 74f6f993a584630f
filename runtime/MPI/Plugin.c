/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The plug-in's side: messages on a communicator of our own, errors returned.
 */

#include "Plugin.h"
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t),
               "a request fits its handle");

static MPI_Comm processes;
/* One thread at a time: with several, Open MPI drops connections of processes
 * that it is just adding, and calls are too short for it to matter. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) { pthread_mutex_lock(&mutex); }

static int leave(int code) {
  pthread_mutex_unlock(&mutex);
  return code;
}

static void describe(int code, char text[COLROW_MPI_TEXT]) {
  char whole[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(code, whole, &length) != MPI_SUCCESS)
    strcpy(whole, "unknown error");
  whole[strcspn(whole, "\n")] = '\0';
  strncpy(text, whole, COLROW_MPI_TEXT - 1);
  text[COLROW_MPI_TEXT - 1] = '\0';
}

static int initialize(void) {
  int provided = MPI_THREAD_SINGLE;
  int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  if (code != MPI_SUCCESS)
    return code;
  if (provided < MPI_THREAD_SERIALIZED)
    return MPI_ERR_UNSUPPORTED_OPERATION;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = MPI_Comm_dup(MPI_COMM_WORLD, &processes);
  if (code == MPI_SUCCESS)
    code = MPI_Comm_set_errhandler(processes, MPI_ERRORS_RETURN);
  return code;
}

static int read_world(ColrowMpiWorld *world) {
  int rank, size, length, found, *max_tag;
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  MPI_Comm_rank(processes, &rank);
  MPI_Comm_size(processes, &size);
  world->rank = (uint32_t)rank;
  world->size = (uint32_t)size;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &max_tag, &found);
  world->max_tag = found ? (uint32_t)*max_tag : 32767;
  MPI_Get_library_version(library, &length);
  library[strcspn(library, "\n")] = '\0';
  for (char *c = library; *c; ++c)
    if (*c < ' ' || *c > '~')
      *c = ' ';
  memset(world->library, 0, sizeof(world->library));
  strncpy(world->library, library, COLROW_MPI_TEXT - 1);
  return MPI_SUCCESS;
}

static int init(ColrowMpiWorld *world) {
  int code = initialize();
  return code == MPI_SUCCESS ? read_world(world) : code;
}

static int send_bytes(const void *from, uint64_t bytes, uint32_t to,
                      uint32_t tag, uint64_t *request) {
  MPI_Request handle;
  enter();
  int code = MPI_Isend(from, (int)bytes, MPI_BYTE, (int)to, (int)tag, processes,
                       &handle);
  *request = 0;
  memcpy(request, &handle, sizeof(handle));
  return leave(code);
}

static int receive_bytes(void *to, uint64_t bytes, uint32_t from, uint32_t tag,
                         uint64_t *request) {
  MPI_Request handle;
  enter();
  int code = MPI_Irecv(to, (int)bytes, MPI_BYTE, (int)from, (int)tag, processes,
                       &handle);
  *request = 0;
  memcpy(request, &handle, sizeof(handle));
  return leave(code);
}

static int test(uint64_t *request, int *is_done) {
  MPI_Request handle;
  memcpy(&handle, request, sizeof(handle));
  enter();
  int code = MPI_Test(&handle, is_done, MPI_STATUS_IGNORE);
  memcpy(request, &handle, sizeof(handle));
  return leave(code);
}

static int progress(void) {
  int is_there;
  enter();
  return leave(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, processes, &is_there,
                          MPI_STATUS_IGNORE));
}

#ifdef MPICH_VERSION
/* MPI_Finalize waits for ever where UCX closes connections while the other side
 * waits in PMI's barrier. What Hydra has to hear is that this process ends in
 * order: else it kills those that have not ended yet. */
static int finalize(void) {
  static const char message[] = "cmd=finalize\n";
  const char *number = getenv("PMI_FD");
  struct stat status;
  if (!number || !getenv("HYDI_CONTROL_FD"))
    return MPI_SUCCESS;
  int fd = (int)strtol(number, NULL, 10);
  if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode) ||
      send(fd, message, sizeof(message) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return MPI_SUCCESS;
  struct pollfd answer = {fd, POLLIN, 0};
  poll(&answer, 1, 1000);
  return MPI_SUCCESS;
}
#else
static int finalize(void) { return MPI_Finalize(); }
#endif

__attribute__((visibility("default"))) const ColrowMpi *colrow_mpi(void) {
  static const ColrowMpi functions = {COLROW_MPI_ABI, init,    send_bytes,
                                      receive_bytes,  test,    progress,
                                      finalize,       describe};
  return &functions;
}
