// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of this folder share about nodes: kinds, inference, errors.

#ifndef COLROW_LIB_KERNEL_KERNELSUPPORT_H
#define COLROW_LIB_KERNEL_KERNELSUPPORT_H

#include "colrow/Kernel/RowKernel.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

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

/// What an element is once it is loaded.
inline Type valueType(Elem elem) {
  switch (elem) {
  case Elem::F32:
  case Elem::BF16:
    return Type::F32;
  case Elem::I32:
    return Type::I32;
  case Elem::I64:
    return Type::I64;
  case Elem::I1:
    return Type::I1;
  }
  llvm_unreachable("no element type");
}

/// Short names, as printed.
llvm::StringRef name(NodeKind kind);
llvm::StringRef name(Elem elem);
llvm::StringRef name(Type type);
llvm::StringRef name(Access access);
llvm::StringRef name(Predicate predicate);

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
