// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary embedding: from the config's fields to one frequency a pair.

#ifndef COLROW_LIB_IMPORT_ROPE_H
#define COLROW_LIB_IMPORT_ROPE_H

#include "ConfigReader.h"
#include <vector>

namespace colrow::import {

struct Rope {
  enum class Type { Default, Linear, Llama3 };
  Type type = Type::Default;
  double theta = 10000.0;
  double factor = 1.0;
  double lowFrequencyFactor = 1.0, highFrequencyFactor = 4.0;
  double originalPositions = 0; ///< positions of the first training, llama3
};

/// Reads the newer `rope_parameters`, or the older `rope_theta` and
/// `rope_scaling`. `maxPositions` is the config's max_position_embeddings.
Rope readRope(ConfigReader &config, int64_t maxPositions,
              llvm::raw_ostream &warnings);

/// The angle a position of pair i, for i < headDim / 2 (Su et al., 2021):
/// theta^(-2i / headDim); linear: divided by factor; llama3: long waves divided
/// by factor, short ones kept, those between interpolated (Llama 3.1).
std::vector<double> ropeFrequencies(const Rope &rope, int64_t headDim);

} // namespace colrow::import

#endif // COLROW_LIB_IMPORT_ROPE_H
