// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cost model knows of a machine: how fast one rank computes and reads
// memory, and how fast groups of ranks talk. Read from a small YAML file.

#ifndef COLROW_COST_TOPOLOGY_H
#define COLROW_COST_TOPOLOGY_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace colrow::cost {

/// A machine, seen from one rank. All rates are positive and finite.
struct Topology {
  /// One level of the network, such as the links inside a node.
  struct Level {
    std::string name;
    /// The most ranks that one group on this level holds, counted whole: a
    /// node of 8 and a cluster of 4 such nodes are levels of 8 and 32.
    unsigned ranks = 0;
    /// Time to start one message, alpha of the alpha-beta model; may be 0.
    double latencySeconds = 0;
    /// What one rank can send, 1/beta.
    double bytesPerSecond = 0;
  };

  std::string name;
  /// Peak of one rank in a float32 matrix product.
  double flopsPerSecondF32 = 0;
  /// The same of bf16 operands; 0: not known, taken as float32's.
  double flopsPerSecondBf16 = 0;
  /// What one rank reads and writes of its memory.
  double memoryBytesPerSecond = 0;
  /// Memory of one rank.
  double memoryBytes = 0;
  /// Innermost first; `ranks` grows outwards. Not empty.
  llvm::SmallVector<Level, 2> levels;
};

/// Reads a topology from the YAML file `path`. The keys are the members'
/// names, in snake case (see test/topologies). Unknown and missing keys (but
/// for flops_per_second_bf16, which may be left out), and values that are no
/// number, negative, zero where a rate is wanted, infinite or NaN, are errors
/// of one line that starts with "path:line: ".
llvm::Expected<Topology> readTopology(llvm::StringRef path);

/// Used when no file is given: ranks are threads of one CPU socket. Each rank
/// computes 100 GFLOP/s and reads 20 GB/s, of 8 GB; up to 64 ranks exchange
/// 10 GB/s each with 2 us to start a message.
Topology defaultTopology();

} // namespace colrow::cost

#endif // COLROW_COST_TOPOLOGY_H
