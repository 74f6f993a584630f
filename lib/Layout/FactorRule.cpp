// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binding of factor rules to shapes, and what each way asks and gives.

#include "colrow/Layout/FactorRule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace colrow::layout;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::SmallVector;
using llvm::StringRef;

namespace {
/// Binds one side of a rule; factors are shared by name between calls.
class Binder {
public:
  explicit Binder(FactorRule &rule) : rule(rule) {}

  llvm::Error side(StringRef text, ArrayRef<ArrayRef<int64_t>> shapes,
                   StringRef what,
                   llvm::SmallVectorImpl<FactorRule::Dims> &out) {
    SmallVector<StringRef> tensors;
    text.split(tensors, ',');
    if (shapes.empty() && text.trim().empty())
      return llvm::Error::success();
    if (tensors.size() != shapes.size())
      return fail(formatv("rule has {0} {1}s, the op {2}", tensors.size(), what,
                          shapes.size()));
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      FactorRule::Dims dims;
      if (llvm::Error e =
              bindTensor(tensor, shapes[i], formatv("{0} {1}", what, i), dims))
        return e;
      out.push_back(dims);
    }
    return llvm::Error::success();
  }

private:
  static llvm::Error fail(const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  }

  llvm::Error bindTensor(StringRef text, ArrayRef<int64_t> shape,
                         const llvm::Twine &what, FactorRule::Dims &dims) {
    SmallVector<StringRef> names;
    text.trim().split(names, ' ', -1, /*KeepEmpty=*/false);
    // `*` stands for all dimensions that the other names leave over.
    size_t starAt = llvm::find(names, "*") - names.begin();
    bool star = starAt < names.size();
    size_t fixed = names.size() - star;
    if (star ? shape.size() < fixed : shape.size() != fixed)
      return fail(formatv("{0} has {1} dimensions where '{2}' is wanted",
                          what.str(), shape.size(), text.trim()));
    size_t many = shape.size() - fixed;
    for (auto [d, size] : llvm::enumerate(shape)) {
      std::string name;
      if (star && d >= starAt && d < starAt + many)
        name = formatv("b{0}", d - starAt);
      else
        name = names[d < starAt ? d : d - many + star].str();
      auto factor = intern(name, size, what);
      if (!factor)
        return factor.takeError();
      dims.push_back({*factor});
    }
    return llvm::Error::success();
  }

  llvm::Expected<unsigned> intern(StringRef name, int64_t size,
                                  const llvm::Twine &what) {
    for (auto [i, factor] : llvm::enumerate(rule.factors)) {
      if (factor.name != name)
        continue;
      if (factor.size != size)
        return fail(formatv("{0} has size {1} along '{2}' where {3} is wanted",
                            what.str(), size, name, factor.size));
      return i;
    }
    rule.factors.push_back({name.str(), size});
    return rule.factors.size() - 1;
  }

  FactorRule &rule;
};
} // namespace

llvm::Expected<FactorRule>
FactorRule::bind(StringRef text, StringRef whole, StringRef stats,
                 ArrayRef<ArrayRef<int64_t>> operandShapes,
                 ArrayRef<ArrayRef<int64_t>> resultShapes) {
  FactorRule rule;
  auto [left, right] = text.split("->");
  Binder binder(rule);
  if (llvm::Error e =
          binder.side(left, operandShapes, "operand", rule.operands))
    return e;
  if (llvm::Error e = binder.side(right, resultShapes, "result", rule.results))
    return e;
  auto listed = [](StringRef names, StringRef name) {
    SmallVector<StringRef> parts;
    names.split(parts, ' ', -1, false);
    return llvm::is_contained(parts, name);
  };
  for (FactorInfo &factor : rule.factors) {
    factor.whole = listed(whole, factor.name);
    factor.stats = listed(stats, factor.name);
  }
  rule.integerOperand.assign(rule.operands.size(), false);
  return rule;
}

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
  if (has(results[i], way.factor))
    return State::S(*majorDim(results[i], way.factor));
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
  case WayKind::Linear:
    return "linear";
  case WayKind::Split:
    return factors[way.factor].name;
  }
  return "?";
}
