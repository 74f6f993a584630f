// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factor rules: how an op may be split, as data (docs/layouts.md). A rule is
// written einsum-like beside the op, "* h, k h -> * k", and bound to shapes.

#ifndef COLROW_LAYOUT_FACTORRULE_H
#define COLROW_LAYOUT_FACTORRULE_H

#include "colrow/Layout/Layout.h"

namespace colrow::layout {

/// The ways in which an op may be used on an axis (design: four ways).
enum class WayKind : uint8_t { Replicated, Copied, Linear, Split };

struct Way {
  WayKind kind = WayKind::Replicated;
  unsigned factor = 0; ///< for Split: index into FactorRule::factors
  unsigned linear = 0; ///< for Linear: index into FactorRule::linear

  bool operator==(const Way &o) const {
    return kind == o.kind && factor == o.factor && linear == o.linear;
  }
};

/// A rule as it is written beside an op. The strings outlive what is bound to
/// them.
struct RuleText {
  /// "x: * h, w: k h, bias?: k -> y: * k": for each operand and result, in the
  /// op's order, its name and the factors of its dimensions. `*` stands for any
  /// number of leading dimensions, equal wherever it stands; an operand with
  /// `?` may be absent.
  llvm::StringRef factors;
  /// Factor names: may never be split; need a statistic when split; are split
  /// by decomposing the op.
  llvm::StringRef whole, stats, decompose;
  /// "x | w", "lhs rhs": sets of operands in which the op is jointly linear.
  llvm::StringRef linear;
  /// Results are a maximum over a split factor instead of a sum.
  bool maxReduction = false;
};

/// An operand or result of an op: its name there, and its shape if it is
/// present.
struct NamedShape {
  llvm::StringRef name;
  std::optional<llvm::ArrayRef<int64_t>> shape;
};

/// A rule bound to shapes. Operands and results are the tensors that are
/// present; each dimension is a list of factors, major to minor.
struct FactorRule {
  struct FactorInfo {
    std::string name;
    int64_t size = 1;
    bool whole = false; ///< may never be split
    bool stats = false; ///< op needs a statistic over it, so may not be split
    bool decomposed = false; ///< splitting it decomposes the op; results are R
  };
  using Dims = llvm::SmallVector<llvm::SmallVector<unsigned, 1>, 4>;

  llvm::SmallVector<FactorInfo, 8> factors;
  llvm::SmallVector<Dims, 4> operands, results;
  llvm::SmallVector<llvm::StringRef, 4> operandNames;
  /// Sets of operands in which the op is jointly linear.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> linear;
  /// Operands that carry no gradient (ids, labels): R always, counted as C.
  llvm::SmallVector<bool, 4> integerOperand;
  /// Results that are a maximum over a split factor instead of a sum.
  bool maxReduction = false;
  /// The copied way is one of the op's.
  bool copied = true;

  /// Binds `text` to the shapes of an op. Fails, naming the tensor, factor or
  /// list, if names, ranks or sizes do not fit, if a factor stands twice in one
  /// tensor, and if a list names what is not there.
  static llvm::Expected<FactorRule> bind(const RuleText &text,
                                         llvm::ArrayRef<NamedShape> operands,
                                         llvm::ArrayRef<NamedShape> results);

  /// Dimension of `dims` in which `factor` is the major factor, or nullopt.
  static std::optional<unsigned> majorDim(const Dims &dims, unsigned factor);
  /// True if `factor` stands anywhere in `dims`.
  static bool has(const Dims &dims, unsigned factor);

  /// True if the op sums (or takes the maximum) over `factor`: an operand has
  /// it and a result has not.
  bool isSummed(unsigned factor) const;

  /// A factor can be split if it is major wherever it stands and neither whole
  /// nor stats.
  bool canSplit(unsigned factor) const;

  /// The states that a way asks of operand `i` and gives result `i`.
  State operandState(Way way, unsigned i) const;
  State resultState(Way way, unsigned i) const;

  /// "replicated", "copied", "linear in lhs rhs", or the factor's name. Names
  /// of an op's ways differ.
  std::string wayName(Way way) const;
  /// All ways in which the op can be used on an axis: replicated, one per
  /// factor that can be split, copied if it may be, one per linear set.
  llvm::SmallVector<Way, 8> ways() const;
  /// The way called `name`, or nullopt.
  std::optional<Way> findWay(llvm::StringRef name) const;
};

} // namespace colrow::layout

#endif // COLROW_LAYOUT_FACTORRULE_H
