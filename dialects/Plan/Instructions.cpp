// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each instruction does to memory.

#include "colrow/dialects/Plan/Plan.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;
using Accesses = SmallVectorImpl<BufferAccess>;

static int64_t elementBytes(Value buffer) {
  return planir::elementBytes(
      cast<BufferType>(buffer.getType()).getElementType());
}

/// Bytes of a row-major matrix whose rows are `ld` elements apart.
static uint64_t matrixBytes(int64_t rows, int64_t columns, int64_t ld,
                            Value buffer) {
  return uint64_t((rows - 1) * ld + columns) * ::elementBytes(buffer);
}

void GemmOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  auto bytes = [](bool transposed, int64_t rows, int64_t columns, int64_t ld,
                  Value buffer) {
    if (transposed)
      std::swap(rows, columns);
    return matrixBytes(rows, columns, ld, buffer);
  };
  accesses.push_back(
      {0, bytes(getTransA(), getM(), getK(), getLda(), getA()), Access::read});
  accesses.push_back(
      {1, bytes(getTransB(), getK(), getN(), getLdb(), getB()), Access::read});
  accesses.push_back({2, bytes(false, getM(), getN(), getLdc(), getC()),
                      getBeta().isZero() ? Access::write : Access::accumulate});
}

void LaunchOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  auto kernel = symbols.lookup<KernelOp>(getKernelAttr().getAttr());
  ArrayAttr args = kernel ? kernel.getArgs() : ArrayAttr();
  for (auto [i, bytes] : llvm::enumerate(getBytes())) {
    // An argument that the kernel does not declare may do anything.
    Access access = args && i < args.size()
                        ? cast<KernelArgAttr>(args[i]).getAccess()
                        : Access::accumulate;
    accesses.push_back({unsigned(i), uint64_t(bytes), access});
  }
}

bool LaunchOp::mayBeInPlace(unsigned read, unsigned written,
                            SymbolTable &symbols) {
  auto kernel = symbols.lookup<KernelOp>(getKernelAttr().getAttr());
  if (!kernel || written >= kernel.getArgs().size())
    return false;
  auto arg = cast<KernelArgAttr>(kernel.getArgs()[written]);
  return llvm::is_contained(arg.getOver(), int64_t(read));
}

void CopyOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  accesses.push_back({0, uint64_t(getBytes()), Access::read});
  accesses.push_back({1, uint64_t(getBytes()), Access::write});
}

void FillOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  accesses.push_back({0, uint64_t(getBytes()), Access::write});
}

void RecordOp::getAccesses(SymbolTable &, Accesses &) {}
void WaitOp::getAccesses(SymbolTable &, Accesses &) {}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

void AllReduceOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  uint64_t bytes = getCount() * ::elementBytes(getSource());
  accesses.push_back({0, bytes, Access::read});
  accesses.push_back({1, bytes, Access::write});
}

bool AllReduceOp::mayBeInPlace(unsigned read, unsigned written, SymbolTable &) {
  return read == 0 && written == 1;
}

std::optional<std::pair<unsigned, unsigned>>
AllReduceOp::getPreferredInPlace() {
  return std::pair(0u, 1u);
}

template <typename Op>
static void addBlocks(Op op, int64_t source, int64_t target,
                      Accesses &accesses) {
  int64_t size = op.getOuter() * ::elementBytes(op.getSource());
  accesses.push_back({0, uint64_t(source * size), Access::read});
  accesses.push_back({1, uint64_t(target * size), Access::write});
}

void AllGatherOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  addBlocks(*this, getBlock(), getTotal(), accesses);
}

void ReduceScatterOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  addBlocks(*this, getTotal(), getBlock(), accesses);
}

void AllToAllOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  addBlocks(*this, getTotal(), getTotal(), accesses);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Bytes of [b, s, m, g, d] (queries), [b, t, m, d] (keys) and [b, s, m, g].
template <typename Op> static std::array<uint64_t, 3> attentionBytes(Op op) {
  uint64_t rows = op.getBatch() * op.getQueries() * op.getGroups();
  uint64_t keys = op.getBatch() * op.getKeys() * op.getGroups();
  return {rows * op.getHeads() * op.getHeadSize() * 4,
          keys * op.getHeadSize() * 4, rows * op.getHeads() * 4};
}

void AttentionOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  auto [query, key, row] = attentionBytes(*this);
  uint64_t bytes[] = {query, key, key, query, row};
  for (unsigned i = 0; i < 5; ++i)
    accesses.push_back({i, bytes[i], i < 3 ? Access::read : Access::write});
}

void AttentionGradOp::getAccesses(SymbolTable &symbols, Accesses &accesses) {
  auto [query, key, row] = attentionBytes(*this);
  uint64_t bytes[] = {query, key, key, row, query, query, key, key};
  for (unsigned i = 0; i < 8; ++i)
    accesses.push_back({i, bytes[i], i < 5 ? Access::read : Access::write});
}

void planir::getBodyAccesses(
    Operation *op, SymbolTable &symbols,
    SmallVectorImpl<std::pair<Value, BufferAccess>> &accesses) {
  SmallVector<BufferAccess> list;
  op->walk([&](PlanInstructionOpInterface instruction) {
    list.clear();
    instruction.getAccesses(symbols, list);
    for (const BufferAccess &access : list)
      accesses.push_back({instruction->getOperand(access.operand), access});
  });
}
