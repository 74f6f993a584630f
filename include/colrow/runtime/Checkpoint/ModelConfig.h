// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What in a Hugging Face folder decides the mathematics of a model, and what is
// bookkeeping.

#ifndef COLROW_RUNTIME_CHECKPOINT_MODELCONFIG_H
#define COLROW_RUNTIME_CHECKPOINT_MODELCONFIG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace colrow::runtime {

/// Fields of config.json that no graph depends on: where a model comes from,
/// the versions and types it was saved with, how text is generated, heads for
/// other tasks. Sorted.
llvm::ArrayRef<llvm::StringLiteral> bookkeepingFields();

/// What differs in two config.json as far as a trained model depends on it: a
/// text a field, "n_head is 4, this plan has 2". Every field counts but those
/// of bookkeepingFields, names with a leading underscore, and what only initial
/// values depend on; null is the same as no field. Errors name the text that is
/// no JSON object.
llvm::Expected<std::vector<std::string>>
configDifferences(llvm::StringRef path, llvm::StringRef saved,
                  llvm::StringRef plans);

/// Whether a tensor is one that older Hugging Face files carry beside the
/// parameters, though a model makes it anew: masks and rotary frequencies.
bool isKnownBuffer(llvm::StringRef tensor);

/// "a, b, c and 4 more".
std::string firstOf(llvm::ArrayRef<std::string> items,
                    llvm::StringRef separator = ", ");

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_MODELCONFIG_H
