// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binding of factor rules to shapes: names, ranks, sizes and lists are checked.

#include "colrow/Layout/FactorRule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace colrow::layout;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::SmallVector;
using llvm::StringRef;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Takes the next of the parts of `text` that `separator` parts, without the
/// spaces around it.
static StringRef takePart(StringRef &text, char separator) {
  auto [part, rest] = text.split(separator);
  text = rest;
  return part.trim();
}

namespace {
/// Binds a rule; factors are shared by name between its tensors.
class Binder {
public:
  Binder(const RuleText &text, FactorRule &rule) : text(text), rule(rule) {}

  llvm::Error run(ArrayRef<NamedShape> operands, ArrayRef<NamedShape> results) {
    auto [left, right] = text.factors.split("->");
    if (llvm::Error e = bindSide(left, operands, "operand", rule.operands))
      return e;
    if (llvm::Error e = bindSide(right, results, "result", rule.results))
      return e;
    for (const NamedShape &operand : operands)
      if (operand.shape)
        rule.operandNames.push_back(operand.name);
    if (llvm::Error e =
            mark(text.whole, "whole", &FactorRule::FactorInfo::whole))
      return e;
    if (llvm::Error e =
            mark(text.stats, "stats", &FactorRule::FactorInfo::stats))
      return e;
    if (llvm::Error e = mark(text.decompose, "decompose",
                             &FactorRule::FactorInfo::decomposed))
      return e;
    return bindLinear(operands);
  }

private:
  llvm::Error bindSide(StringRef side, ArrayRef<NamedShape> tensors,
                       StringRef what,
                       llvm::SmallVectorImpl<FactorRule::Dims> &out) {
    size_t number = side.trim().empty() ? 0 : side.count(',') + 1;
    if (number != tensors.size())
      return fail(formatv("rule has {0} {1}s, the op {2}", number, what,
                          tensors.size()));
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      StringRef part = takePart(side, ',');
      if (!part.contains(':'))
        return fail(formatv("rule has '{0}' for {1} '{2}'; wanted its name, a "
                            "colon, and its factors",
                            part, what, tensor.name));
      StringRef name = takePart(part, ':');
      bool optional = name.consume_back("?");
      if (name != tensor.name)
        return fail(formatv("rule calls {0} {1} '{2}', the op calls it '{3}'",
                            what, i, name, tensor.name));
      if (tensor.shape) {
        if (llvm::Error e = bindTensor(part, tensor, what, out.emplace_back()))
          return e;
      } else if (!optional) {
        return fail(formatv("{0} '{1}' is absent; its rule wants '{1}?:' if it "
                            "may be",
                            what, name));
      } else {
        part.split(absentFactors, ' ', -1, /*KeepEmpty=*/false);
      }
    }
    return llvm::Error::success();
  }

  llvm::Error bindTensor(StringRef factors, const NamedShape &tensor,
                         StringRef what, FactorRule::Dims &dims) {
    ArrayRef<int64_t> shape = *tensor.shape;
    SmallVector<StringRef, 8> names;
    factors.split(names, ' ', -1, /*KeepEmpty=*/false);
    // `*` stands for all dimensions that the other names leave over.
    size_t starAt = llvm::find(names, "*") - names.begin();
    bool star = starAt < names.size();
    size_t fixed = names.size() - star;
    if (star ? shape.size() < fixed : shape.size() != fixed)
      return fail(formatv("{0} '{1}' has {2} dimensions where '{3}' is wanted",
                          what, tensor.name, shape.size(), factors.trim()));
    size_t many = shape.size() - fixed;
    for (auto [d, size] : llvm::enumerate(shape)) {
      bool starred = star && d >= starAt && d < starAt + many;
      std::string name = starred
                             ? ("b" + llvm::Twine(d - starAt)).str()
                             : names[d < starAt ? d : d - many + star].str();
      auto factor = intern(name, size, tensor.name, what);
      if (!factor)
        return factor.takeError();
      if (FactorRule::has(dims, *factor))
        return fail(
            formatv("rule has factor '{0}' twice in '{1}'", name, tensor.name));
      dims.push_back({*factor});
    }
    return llvm::Error::success();
  }

  llvm::Expected<unsigned> intern(StringRef name, int64_t size,
                                  StringRef tensor, StringRef what) {
    for (auto [i, factor] : llvm::enumerate(rule.factors)) {
      if (factor.name != name)
        continue;
      if (factor.size != size)
        return fail(
            formatv("{0} '{1}' has size {2} along '{3}' where {4} is wanted",
                    what, tensor, size, name, factor.size));
      return i;
    }
    if (name == "replicated" || name == "copied")
      return fail(formatv("rule has a factor '{0}', the name of a way", name));
    rule.factors.push_back({name.str(), size});
    return rule.factors.size() - 1;
  }

  /// Sets `flag` of the factors in `list`.
  llvm::Error mark(StringRef list, StringRef listName,
                   bool FactorRule::FactorInfo::*flag) {
    while (!list.empty()) {
      StringRef name = takePart(list, ' ');
      auto *factor = llvm::find_if(
          rule.factors, [&](auto &info) { return info.name == name; });
      if (factor != rule.factors.end())
        factor->*flag = true;
      else if (!name.empty() && !llvm::is_contained(absentFactors, name))
        return fail(formatv("`{0}` lists '{1}', which is no factor of rule "
                            "'{2}'",
                            listName, name, text.factors));
    }
    return llvm::Error::success();
  }

  llvm::Error bindLinear(ArrayRef<NamedShape> operands) {
    using Names = SmallVector<StringRef, 2>;
    Names sets;
    if (!text.linear.empty())
      text.linear.split(sets, '|');
    SmallVector<Names, 2> written;
    for (StringRef set : sets) {
      Names names;
      set.split(names, ' ', -1, /*KeepEmpty=*/false);
      if (names.empty())
        return fail(formatv("`linear` has an empty set in '{0}'", text.linear));
      if (llvm::is_contained(written, names))
        return fail(
            formatv("`linear` has the same set twice in '{0}'", text.linear));
      written.push_back(names);
      SmallVector<unsigned, 2> members;
      if (llvm::Error e = bindSet(names, operands, members))
        return e;
      if (!members.empty() && !llvm::is_contained(rule.linear, members))
        rule.linear.push_back(members);
    }
    return llvm::Error::success();
  }

  /// The numbers of those of the operands `names` that are present.
  llvm::Error bindSet(ArrayRef<StringRef> names, ArrayRef<NamedShape> operands,
                      llvm::SmallVectorImpl<unsigned> &members) {
    for (unsigned i = 0; i < names.size(); ++i) {
      StringRef name = names[i];
      auto *operand = llvm::find_if(
          operands, [&](auto &tensor) { return tensor.name == name; });
      if (operand == operands.end())
        return fail(formatv("`linear` names '{0}', which is no operand of "
                            "rule '{1}'",
                            name, text.factors));
      if (llvm::is_contained(names.take_front(i), name))
        return fail(formatv("`linear` names '{0}' twice in a set", name));
      if (operand->shape)
        members.push_back(llvm::find(rule.operandNames, name) -
                          rule.operandNames.begin());
    }
    return llvm::Error::success();
  }

  const RuleText &text;
  FactorRule &rule;
  /// Factors of absent tensors, which lists may name too.
  SmallVector<StringRef> absentFactors;
};
} // namespace

llvm::Expected<FactorRule> FactorRule::bind(const RuleText &text,
                                            ArrayRef<NamedShape> operands,
                                            ArrayRef<NamedShape> results) {
  FactorRule rule;
  if (llvm::Error e = Binder(text, rule).run(operands, results))
    return e;
  rule.maxReduction = text.maxReduction;
  rule.integerOperand.assign(rule.operands.size(), false);
  return rule;
}
