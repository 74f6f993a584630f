// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each way of a rule asks and gives.

#include "colrow/Layout/FactorRule.h"
#include "llvm/ADT/STLExtras.h"

using namespace colrow::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

std::optional<unsigned> FactorRule::majorDim(const Dims &dims,
                                             unsigned factor) {
  for (auto [d, list] : llvm::enumerate(dims))
    if (!list.empty() && list.front() == factor)
      return d;
  return std::nullopt;
}

bool FactorRule::has(const Dims &dims, unsigned factor) {
  return llvm::any_of(dims, [&](ArrayRef<unsigned> list) {
    return llvm::is_contained(list, factor);
  });
}

bool FactorRule::isSummed(unsigned factor) const {
  auto holds = [&](const Dims &dims) { return has(dims, factor); };
  return llvm::any_of(operands, holds) && !llvm::all_of(results, holds);
}

bool FactorRule::canSplit(unsigned factor) const {
  if (factors[factor].whole || factors[factor].stats)
    return false;
  auto fits = [&](const Dims &dims) {
    return !has(dims, factor) || majorDim(dims, factor).has_value();
  };
  return llvm::all_of(operands, fits) && llvm::all_of(results, fits);
}

State FactorRule::operandState(Way way, unsigned i) const {
  if (way.kind == WayKind::Split && has(operands[i], way.factor))
    return State::S(*majorDim(operands[i], way.factor));
  if (integerOperand[i] || way.kind == WayKind::Replicated)
    return State::R();
  if (way.kind == WayKind::Linear && llvm::is_contained(linear[way.linear], i))
    return State::P();
  return State::C();
}

State FactorRule::resultState(Way way, unsigned i) const {
  switch (way.kind) {
  case WayKind::Replicated:
    return State::R();
  case WayKind::Copied:
    return State::C();
  case WayKind::Linear:
    return State::P();
  case WayKind::Split:
    break;
  }
  if (auto dim = majorDim(results[i], way.factor))
    return State::S(*dim);
  bool summed = llvm::any_of(
      operands, [&](const Dims &dims) { return has(dims, way.factor); });
  if (factors[way.factor].decomposed)
    return State::R();
  if (!summed)
    return State::C();
  return maxReduction ? State{StateKind::PartialMax, 0} : State::P();
}

std::string FactorRule::wayName(Way way) const {
  switch (way.kind) {
  case WayKind::Replicated:
    return "replicated";
  case WayKind::Copied:
    return "copied";
  case WayKind::Linear: {
    std::string name = "linear in";
    for (unsigned operand : linear[way.linear])
      name += (" " + operandNames[operand]).str();
    return name;
  }
  case WayKind::Split:
    return factors[way.factor].name;
  }
  return "?";
}

SmallVector<Way, 8> FactorRule::ways() const {
  SmallVector<Way, 8> ways;
  ways.push_back({WayKind::Replicated, 0, 0});
  for (unsigned f = 0; f < factors.size(); ++f)
    if (canSplit(f))
      ways.push_back({WayKind::Split, f, 0});
  if (copied)
    ways.push_back({WayKind::Copied, 0, 0});
  for (unsigned set = 0; set < linear.size(); ++set)
    ways.push_back({WayKind::Linear, 0, set});
  return ways;
}

std::optional<Way> FactorRule::findWay(StringRef name) const {
  for (Way way : ways())
    if (wayName(way) == name)
      return way;
  return std::nullopt;
}
