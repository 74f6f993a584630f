// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of data files, and how a value becomes one of an input.

#ifndef COLROW_RUNTIME_DATA_INPUTS_H
#define COLROW_RUNTIME_DATA_INPUTS_H

#include "colrow/runtime/Checkpoint/Safetensors.h"
#include "colrow/runtime/Data/InputData.h"

namespace colrow::runtime {

/// Where a value came from, for errors.
struct ValuePlace {
  llvm::StringRef file;
  int64_t step, row, position;
};

/// Stores integers as elements of an input.
class ValueWriter {
public:
  explicit ValueWriter(const plan::Input &input);

  /// Error: `value` is outside the input's range or type.
  llvm::Error store(int64_t value, const ValuePlace &place, char *out,
                    int64_t index) const {
    if ((value < low || value > last) && value != padding)
      return outside(value, place);
    put(value, out, index);
    return llvm::Error::success();
  }
  /// Rows, or parts of one, that the data has not.
  void pad(char *out, int64_t index, int64_t count) const {
    for (int64_t i = 0; i < count; ++i)
      put(padding, out, index + i);
  }
  /// A value of an input of floats.
  void storeFloat(float value, char *out, int64_t index) const;

private:
  void put(int64_t value, char *out, int64_t index) const;
  llvm::Error outside(int64_t value, const ValuePlace &place) const;

  const plan::Input &input;
  plan::DType type;
  int64_t low, last, padding; // values lie in [low, last], or are padding
};

/// The file was complete when it was opened.
llvm::Error changedMeanwhile(int64_t step, llvm::Error error);

llvm::Expected<std::unique_ptr<InputData>> openTensors(llvm::StringRef path,
                                                       const Programs &programs,
                                                       const DataPlace &place);
llvm::Expected<std::unique_ptr<InputData>> openTokens(llvm::StringRef path,
                                                      TokenType type,
                                                      const Programs &programs,
                                                      const DataPlace &place);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_DATA_INPUTS_H
