// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MpiPair.h"
#include "colrow/runtime/Support/Errors.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

using namespace llvm;
using namespace colrow;
using namespace colrow::runtime;

Mesh colrow::meshOfTwo() {
  Mesh mesh;
  mesh.sizes = {2};
  mesh.names = {"tp"};
  return mesh;
}

MpiPair::MpiPair(std::unique_ptr<MpiNetwork> network, JobPage page,
                 SharedArena arena, uint64_t bytes)
    : network(std::move(network)), page(std::move(page)),
      arena(std::move(arena)), bytes(bytes) {}

Expected<std::unique_ptr<MpiPair>> MpiPair::start(const LaunchInfo &launch,
                                                  uint64_t bytes) {
  // The best that it has on one machine; tp-run takes TCP.
  ::setenv("OMPI_MCA_btl", "self,vader", /*overwrite=*/0);
  auto network = MpiNetwork::start(launch, 60, "bench-collectives");
  if (!network)
    return network.takeError();
  auto page =
      JobPage::create(PageLayout(meshOfTwo(), {{0}}, launch.process, 1));
  if (!page)
    return page.takeError();
  auto arena = SharedArena::create("a process", 2 * bytes);
  if (!arena)
    return arena.takeError();
  if (Error error = arena->populate())
    return std::move(error);
  std::fill_n(reinterpret_cast<float *>(arena->get()),
              2 * bytes / sizeof(float), 1.0f);
  std::unique_ptr<MpiPair> pair(new MpiPair(
      std::move(*network), std::move(*page), std::move(*arena), bytes));
  if (Error error = pair->open())
    return std::move(error);
  return std::move(pair);
}

Error MpiPair::open() {
  void *library = ::dlopen(COLROW_BENCH_OPENMPI, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return failure("{0}", ::dlerror());
  allReduce =
      reinterpret_cast<AllReduce>(::dlsym(library, "colrow_bench_all_reduce"));
  // As if they were two machines, or they would take shared memory.
  NetworkOptions options;
  options.splitLastAxis = true;
  auto made = NetworkTransport::create(
      meshOfTwo(), page, {{arena.get()}, 2 * bytes, nullptr},
      {{0, 1}, {"first", "second"}}, {{0}}, *network, options);
  if (!made)
    return made.takeError();
  transport = std::move(*made);
  communicator = transport->communicator(network->process(), {0});
  return Error::success();
}

int MpiPair::theirs(int count) {
  return allReduce(source(), destination(), count);
}

void MpiPair::meet() {
  char sign = 0;
  unsigned tag = network->maxTag();
  Network::Request request = network->process() == 0
                                 ? network->send(&sign, 1, 1, tag)
                                 : network->receive(&sign, 1, 0, tag);
  while (!network->test(request))
    ::usleep(200);
}
