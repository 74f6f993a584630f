// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of (value, dimension).

#include "colrow/Sharding/DimClasses.h"
#include <numeric>

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;
using layout::FactorRule;

void DimClasses::number(Value value) {
  first[value] = count;
  count += tp::shapeOf(value).size();
}

/// Dimensions of `op` with one factor that can be split are of one class.
void DimClasses::join(const FactorRule &rule, Operation *op) {
  for (unsigned f = 0; f < rule.factors.size(); ++f) {
    if (!rule.canSplit(f))
      continue;
    std::optional<unsigned> seen;
    auto visit = [&](ValueRange values, ArrayRef<FactorRule::Dims> dims) {
      for (auto [value, list] : llvm::zip(values, dims)) {
        std::optional<unsigned> d = FactorRule::majorDim(list, f);
        if (!d)
          continue;
        if (seen)
          classes.join(*seen, index(value, *d));
        seen = index(value, *d);
      }
    };
    visit(op->getOperands(), rule.operands);
    visit(op->getResults(), rule.results);
  }
}

LogicalResult DimClasses::readRules(SymbolTable &symbols, Block &forward) {
  for (Operation &op : forward.without_terminator()) {
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      if (!symbols.lookup<tp::ParameterOp>(param.getSymbol()))
        return op.emitOpError("reads @")
               << param.getSymbol()
               << ", which is optimizer state; a graph reads parameters only";
      continue;
    }
    auto shardable = dyn_cast<tp::ShardableOpInterface>(op);
    if (!shardable)
      return op.emitOpError("has no factor rule, so tp-shard cannot tell how "
                            "to split it; express it by tp ops");
    auto rule = tp::getRule(shardable);
    if (!rule)
      return op.emitOpError() << llvm::toString(rule.takeError());
    rules.insert({&op, &*rule});
  }
  return success();
}

void DimClasses::joinReads(Block &forward) {
  for (auto param : forward.getOps<tp::ParamOp>()) {
    Value value = param.getResult();
    Value other =
        reads.try_emplace(param.getSymbolAttr().getAttr(), value).first->second;
    for (unsigned d = 0; d < tp::shapeOf(value).size(); ++d)
      classes.join(index(value, d), index(other, d));
  }
}

void DimClasses::fillInfos(SymbolTable &symbols) {
  infos.resize(classes.getNumClasses());
  for (auto [value, begin] : first) {
    auto param = value.getDefiningOp<tp::ParamOp>();
    bool feature = param && symbols.lookup<tp::ParameterOp>(param.getSymbol())
                                    .getCheckpointRank() >= 2;
    for (auto [d, size] : llvm::enumerate(tp::shapeOf(value))) {
      Info &info = infos[classes[begin + d]];
      // A block boundary of one must be one of the other.
      info.units = std::gcd(info.units, size);
      info.feature |= feature;
    }
  }
}

FailureOr<std::unique_ptr<DimClasses>>
DimClasses::read(ModuleOp module, ArrayRef<func::FuncOp> functions) {
  SymbolTable symbols(module);
  auto result = std::make_unique<DimClasses>();
  for (func::FuncOp function : functions) {
    Block &forward = function.getBody().front();
    if (failed(result->readRules(symbols, forward)))
      return failure();
    for (Value argument : forward.getArguments())
      result->number(argument);
    for (Operation &op : forward)
      for (Value value : op.getResults())
        result->number(value);
  }
  result->classes.grow(result->count);
  for (auto &[op, rule] : result->rules)
    result->join(*rule, op);
  for (func::FuncOp function : functions)
    result->joinReads(function.getBody().front());
  result->classes.compress();
  result->fillInfos(symbols);
  return result;
}
