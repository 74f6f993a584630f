// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a program's inputs, step after step, from a file of which a
// step reads what it needs. Samples are rows of the batch: row b of step t is
// sample t * batch + b, from the first step on if the batch never changed.
//
// `.safetensors`: a tensor for each input under its name, integers of 32 or 64
//   bits or booleans, for an input of floats also F32, BF16 or F16. Its shape
//   is the input's behind the number of steps, or the input's with any number
//   of rows for the batch: then the last step's missing rows hold the input's
//   padding. Labels may lack the last column, which holds padding. Sample n is
//   row n mod (steps * batch). An input without batch may also be there once,
//   for all steps.
// `.bin`: tokens, uint16 or uint32, little-endian. Anything else: bytes of
//   text, a token each. Both are for programs whose inputs are the roles "ids"
//   [batch, seq] and "labels" [batch, seq or seq + 1], and are cut into N =
//   (tokens - 1) / seq windows of seq + 1 tokens, window w from token w * seq
//   on. Sample n is window n mod N.

#ifndef COLROW_RUNTIME_DATA_INPUTDATA_H
#define COLROW_RUNTIME_DATA_INPUTDATA_H

#include "colrow/runtime/Plan/Programs.h"
#include <memory>

namespace colrow::runtime {

/// Type of the tokens of a `.bin` file. automatic: uint16, or uint32 where the
/// vocabulary needs it.
enum class TokenType { automatic, u16, u32 };

/// Where a run stands: step `step` takes samples from `sample` on, the next
/// those behind it.
struct DataPlace {
  int64_t step = 0, sample = 0;
};

class InputData {
public:
  /// `programs` must outlive the result. Errors: what the file lacks for an
  /// input.
  static llvm::Expected<std::unique_ptr<InputData>>
  open(llvm::StringRef path, TokenType type, const Programs &programs,
       const DataPlace &place = {});
  virtual ~InputData() = default;

  llvm::ArrayRef<const plan::Input *> inputs() const { return list; }
  /// Steps until the data begins anew.
  virtual int64_t steps() const = 0;

  /// Writes the value of inputs()[input] at `step`, from 0: whole, row-major,
  /// of its type. Allocates nothing. Error: a value outside the input's range,
  /// with its place, or a file that was cut meanwhile.
  virtual llvm::Error fill(int64_t step, size_t input, char *out) = 0;

protected:
  InputData(const Programs &programs, const DataPlace &place);
  /// The sample that row 0 of `step` is.
  int64_t sampleOf(int64_t step) const {
    return place.sample + (step - place.step) * batch;
  }

  std::vector<const plan::Input *> list;
  DataPlace place;
  int64_t batch; // rows of a step
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_DATA_INPUTDATA_H
