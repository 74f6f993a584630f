// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches of token ids from a file, of which a step reads what it needs.
//
// `.safetensors`: tensors input_ids and labels, int64 or int32, [steps, batch,
//   seq]; labels are not shifted, -100 is ignored. After the last step the
//   first follows.
// `.bin`: tokens, uint16 or uint32, little-endian. Anything else: bytes of
//   text, a token each. Both are cut into N = (tokens - 1) / seq windows of
//   seq + 1 tokens, window w from token w * seq on. Sample n is window n mod N;
//   of a Safetensors file, row n mod (steps * batch). Row b of step t is sample
//   t * batch + b, from the first step on if the batch never changed.

#ifndef COLROW_RUNTIME_TOKENDATA_H
#define COLROW_RUNTIME_TOKENDATA_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace colrow::runtime {

/// Type of the tokens of a `.bin` file. automatic: uint16, or uint32 where the
/// vocabulary needs it.
enum class TokenType { automatic, u16, u32 };

/// What the plan wants, and where a run stands: step `firstStep` takes samples
/// (rows) from `firstSample` on, the next those behind it.
struct BatchShape {
  int64_t batch, seq, vocab;
  int64_t firstStep = 0, firstSample = 0;

  int64_t sampleOf(int64_t step) const {
    return firstSample + (step - firstStep) * batch;
  }
};

class TokenData {
public:
  static llvm::Expected<std::unique_ptr<TokenData>>
  open(llvm::StringRef path, TokenType type, const BatchShape &shape);
  virtual ~TokenData() = default;

  /// Writes ids [batch, seq] and labels [batch, seq + 1] of `step`, from 0.
  /// Label 0 of a row is never used; the labels end with -100 where the file
  /// has none for the token after the last. Allocates nothing. Error: a token
  /// outside the vocabulary, with its place, or a file that was cut meanwhile.
  virtual llvm::Error fill(int64_t step, int32_t *ids, int32_t *labels) = 0;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_TOKENDATA_H
