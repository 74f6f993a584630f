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

DimClasses::DimClasses(
    func::FuncOp step, const llvm::MapVector<Operation *, FactorRule> &rules,
    llvm::function_ref<int64_t(Operation *)> checkpointRank) {
  Block &body = step.getBody().front();
  for (Value argument : body.getArguments())
    number(argument);
  for (Operation &op : body)
    llvm::for_each(op.getResults(), [&](Value value) { number(value); });
  classes.grow(count);
  for (auto &[op, rule] : rules)
    join(rule, op);
  classes.compress();
  infos.resize(classes.getNumClasses());
  for (auto [value, begin] : first) {
    auto *maker = value.getDefiningOp<tp::ParamOp>().getOperation();
    bool feature = maker && checkpointRank(maker) >= 2;
    for (auto [d, size] : llvm::enumerate(tp::shapeOf(value))) {
      Info &info = infos[classes[begin + d]];
      // A block boundary of one must be one of the other.
      info.units = std::gcd(info.units, size);
      info.feature |= feature;
    }
  }
}
