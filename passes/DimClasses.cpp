// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Union-find over (value, dimension).

#include "DimClasses.h"
#include <numeric>

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

unsigned DimClasses::index(Value value, unsigned dim) {
  auto [it, isNew] = first.try_emplace(value, parent.size());
  if (isNew)
    for (int64_t size : shapeOf(value)) {
      parent.push_back(parent.size());
      unit.push_back(size);
      feature.push_back(false);
    }
  return it->second + dim;
}

unsigned DimClasses::find(unsigned i) {
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

void DimClasses::merge(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return;
  parent[b] = a;
  // A block boundary of one must be one of the other.
  unit[a] = std::gcd(unit[a], unit[b]);
  feature[a] = feature[a] || feature[b];
}

DimClasses::DimClasses(
    func::FuncOp step,
    const llvm::MapVector<Operation *, layout::FactorRule> &rules,
    llvm::function_ref<int64_t(Operation *)> checkpointRank) {
  step.walk([&](tp::ParamOp param) {
    for (unsigned d = 0; d < shapeOf(param.getResult()).size(); ++d) {
      unsigned i = index(param.getResult(), d);
      if (checkpointRank(param) >= 2)
        feature[find(i)] = true;
    }
  });
  for (auto &[op, rule] : rules) {
    for (unsigned f = 0; f < rule.factors.size(); ++f) {
      if (!rule.canSplit(f))
        continue;
      std::optional<unsigned> seen;
      auto visit = [&](Value value, const layout::FactorRule::Dims &dims) {
        auto d = layout::FactorRule::majorDim(dims, f);
        if (!d)
          return;
        unsigned i = index(value, *d);
        if (seen)
          merge(*seen, i);
        seen = i;
      };
      for (auto [value, dims] : llvm::zip(op->getOperands(), rule.operands))
        visit(value, dims);
      for (auto [value, dims] : llvm::zip(op->getResults(), rule.results))
        visit(value, dims);
    }
  }
}

int64_t DimClasses::units(Value value, unsigned dim) {
  return unit[find(index(value, dim))];
}

bool DimClasses::isFeature(Value value, unsigned dim) {
  return feature[find(index(value, dim))];
}
