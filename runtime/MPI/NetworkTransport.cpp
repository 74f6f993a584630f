// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which transport a group needs, and whether there may be one.

#include "colrow/runtime/MPI/NetworkTransport.h"
#include "NetworkCommunicator.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::runtime {

NetworkTransport::NetworkTransport(const Mesh &mesh, const JobPage &page,
                                   MachineMemory memory, Placement placement,
                                   std::vector<std::vector<uint8_t>> axes,
                                   Network &network,
                                   const NetworkOptions &options)
    : mesh(mesh), page(page), memory(std::move(memory)),
      placement(std::move(placement)), axes(std::move(axes)), network(network),
      options(options), within(mesh, page, this->memory, share()),
      spins(Barrier::spinsFor(share(), page.layout().ranks())) {}

unsigned NetworkTransport::share() const {
  return mesh.ranks() / unsigned(placement.machines.size());
}

Error NetworkTransport::check() const {
  if (tagsOf(axes.size(), share()) > uint64_t(network.maxTag()) + 1)
    return failure("{0} ranks of a process need more tags than this MPI has "
                   "({1}): start more processes, of fewer ranks each",
                   share(), network.maxTag());
  if (mesh.sizes.empty() || options.splitLastAxis)
    return Error::success();
  unsigned last = mesh.sizes.back();
  auto machineOf = [&](unsigned rank) {
    return placement.machines[rank / share()];
  };
  for (unsigned rank = 1; rank < mesh.ranks(); ++rank)
    if (rank % last != 0 && machineOf(rank) != machineOf(rank - 1))
      return failure(
          "axis {0} would be cut between machines {1} and {2}, and its "
          "collectives are many: start a multiple of {3} processes on each "
          "machine, or allow it with --split-last-axis",
          mesh.names.back(), placement.hosts[machineOf(rank - 1)],
          placement.hosts[machineOf(rank)], std::max(1u, last / share()));
  return Error::success();
}

Expected<std::unique_ptr<NetworkTransport>>
NetworkTransport::create(const Mesh &mesh, const JobPage &page,
                         MachineMemory memory, Placement placement,
                         std::vector<std::vector<uint8_t>> axes,
                         Network &network, const NetworkOptions &options) {
  std::unique_ptr<NetworkTransport> result(
      new NetworkTransport(mesh, page, std::move(memory), std::move(placement),
                           std::move(axes), network, options));
  if (Error error = result->check())
    return std::move(error);
  return std::move(result);
}

std::unique_ptr<Communicator>
NetworkTransport::communicator(unsigned rank, ArrayRef<uint8_t> list) {
  unsigned number = find(axes, list.vec()) - axes.begin();
  NetworkGroup group(mesh, placement, rank, list, {number, share()});
  if (group.count == group.size())
    return within.communicator(rank, list);
  return std::make_unique<NetworkCommunicator>(
      std::move(group), page, *page.layout().group(rank, list), memory, spins,
      network, options.bufferBytes);
}

} // namespace colrow::runtime
