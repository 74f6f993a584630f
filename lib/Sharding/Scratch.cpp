// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of ops on scratch, and what tells ops apart.

#include "colrow/Sharding/Scratch.h"

using namespace mlir;
using namespace colrow::sharding;

Operation *Scratch::clone(Operation *op, TypeRange operandTypes,
                          TypeRange resultTypes) {
  Operation *copy = op->cloneWithoutRegions();
  builder.insert(copy);
  for (auto [i, type] : llvm::enumerate(operandTypes))
    copy->setOperand(i, block.addArgument(type, op->getLoc()));
  for (auto [result, type] : llvm::zip(copy->getResults(), resultTypes))
    result.setType(type);
  return copy;
}

std::vector<const void *> colrow::sharding::signatureOf(Operation *op,
                                                        TypeRange operandTypes,
                                                        TypeRange resultTypes) {
  std::vector<const void *> signature = {
      op->getName().getAsOpaquePointer(),
      op->getPropertiesAsAttribute().getAsOpaquePointer()};
  for (Type type : operandTypes)
    signature.push_back(type.getAsOpaquePointer());
  for (Type type : resultTypes)
    signature.push_back(type.getAsOpaquePointer());
  return signature;
}
