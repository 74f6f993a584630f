// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes assembled tensors, one in memory at a time.

#ifndef COLROW_RUNTIME_CHECKPOINT_WRITE_H
#define COLROW_RUNTIME_CHECKPOINT_WRITE_H

#include "WholeTensor.h"

namespace colrow::runtime {

/// All of `tensors`, each in its type, by all processes at once. `finiteOnly`:
/// a value that is not finite is an error that names the tensor.
llvm::Error writeTensors(JointFile file, llvm::ArrayRef<WholeTensor> tensors,
                         Executor &executor, bool finiteOnly);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_WRITE_H
