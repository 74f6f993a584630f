// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of bound factor rules.

#include "RuleCache.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using layout::FactorRule;

/// Name, types, and which operands are absent.
RuleCache::Key RuleCache::keyOf(Operation *op) {
  Key key = {op->getName().getAsOpaquePointer()};
  if (op->hasTrait<OpTrait::AttrSizedOperandSegments>())
    key.push_back(op->getAttr("operandSegmentSizes").getAsOpaquePointer());
  for (Type type : op->getOperandTypes())
    key.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  return key;
}

llvm::Expected<const FactorRule &> RuleCache::get(ShardableOpInterface op) {
  Key key = keyOf(op);
  std::lock_guard<std::mutex> lock(mutex);
  auto known = rules.find(key);
  if (known != rules.end())
    return known->second;
  auto rule = op.getFactorRule();
  if (!rule)
    return rule.takeError();
  return rules.emplace(std::move(key), std::move(*rule)).first->second;
}

LogicalResult RuleCache::checkOnce(Operation *op, Attribute ways,
                                   llvm::function_ref<LogicalResult()> check) {
  Key key = keyOf(op);
  key.push_back(ways.getAsOpaquePointer());
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (checked.count(key))
      return success();
  }
  if (failed(check()))
    return failure();
  std::lock_guard<std::mutex> lock(mutex);
  checked.insert(std::move(key));
  return success();
}

llvm::Expected<const FactorRule &> tp::getRule(ShardableOpInterface op) {
  return cast<TPDialect>(op->getDialect())->getRules().get(op);
}
