// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of this folder share about nodes: kinds, inference, errors.

#ifndef COLROW_LIB_KERNEL_KERNELSUPPORT_H
#define COLROW_LIB_KERNEL_KERNELSUPPORT_H

#include "colrow/Kernel/RowKernel.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"

namespace colrow::kernel {

inline bool isEffect(NodeKind kind) { return kind >= NodeKind::Store; }
inline bool isRowReduction(NodeKind kind) {
  return kind == NodeKind::RowSum || kind == NodeKind::RowMax;
}
inline bool isPhilox(NodeKind kind) {
  return kind == NodeKind::Philox || kind == NodeKind::PhiloxUniform;
}

inline float constantF32(const Node &node) {
  return llvm::bit_cast<float>(uint32_t(node.imm));
}

inline Type valueType(Elem elem) {
  return elem == Elem::F32   ? Type::F32
         : elem == Elem::I32 ? Type::I32
                             : Type::I64;
}

/// A short name of the kind, as printed.
llvm::StringRef name(NodeKind kind);

llvm::Error kernelError(const llvm::Twine &message);

/// Fills in the type and the class of `node` from its operands, which must be
/// nodes of `kernel`, or says what is wrong with them.
llvm::Error inferNode(const RowKernel &kernel, Node &node);

/// Leading row dimensions along which `arg` does not move: a sum into it runs
/// over them.
unsigned countSummedDims(const RowKernel &kernel, const Arg &arg);

/// The same kernel with as few row dimensions as possible: adjacent ones are
/// merged, and rows that only continue each other become columns.
RowKernel collapseRows(const RowKernel &kernel);

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_KERNELSUPPORT_H
