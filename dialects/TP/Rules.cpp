// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factor rules of ops, and the check that an op is used in one of the four
// ways on each axis. The error names the op, the axis and the cure.

#include "RuleCache.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using layout::FactorRule;
using layout::State;
using layout::StateKind;
using layout::Way;
using layout::WayKind;

/// Names `names`, parted by spaces, and the shapes of those of `values` that
/// they stand for; `count(i)` of them for name i, at most one.
static SmallVector<layout::NamedShape, 4>
named(StringRef names, ValueRange values,
      llvm::function_ref<unsigned(unsigned)> count) {
  SmallVector<layout::NamedShape, 4> shapes;
  for (unsigned i = 0, next = 0; !names.empty(); ++i) {
    layout::NamedShape &shape = shapes.emplace_back();
    std::tie(shape.name, names) = names.split(' ');
    if (count(i) && next < values.size())
      shape.shape = cast<RankedTensorType>(values[next++].getType()).getShape();
  }
  return shapes;
}

llvm::Expected<FactorRule>
colrow::tp::detail::bindRule(Operation *op, const layout::RuleText &text,
                             StringRef operandNames, StringRef resultNames,
                             llvm::function_ref<unsigned(unsigned)> count) {
  auto rule = FactorRule::bind(
      text, named(operandNames, op->getOperands(), count),
      named(resultNames, op->getResults(), [](unsigned) { return 1; }));
  if (!rule)
    return rule.takeError();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    rule->integerOperand[i] = isa<IntegerType>(
        cast<RankedTensorType>(operand.getType()).getElementType());
  for (ArrayRef<unsigned> set : rule->linear)
    for (unsigned i : set)
      if (rule->integerOperand[i])
        return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                       "`linear` names '" +
                                           rule->operandNames[i] +
                                           "', which holds integers");
  return rule;
}

llvm::Expected<FactorRule> colrow::tp::detail::bindBroadcast(Operation *op,
                                                             StringRef linear) {
  auto small = cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
  std::string names;
  for (size_t i = 0; i < small.size(); ++i)
    names += llvm::formatv(" c{0}", i);
  std::string text = llvm::formatv("lhs: *{0}, rhs:{0} -> y: *{0}", names);
  layout::RuleText rule;
  rule.factors = text;
  rule.linear = linear;
  return bindRule(op, rule, "lhs rhs", "y", [](unsigned) { return 1; });
}

FailureOr<Way> tp::getChosenWay(Operation *op, const FactorRule &rule,
                                StringAttr axis) {
  auto ways = op->getAttrOfType<DictionaryAttr>(getWaysAttrName());
  auto name = ways ? ways.getAs<StringAttr>(axis) : StringAttr();
  std::optional<Way> way;
  if (name)
    way = rule.findWay(name);
  if (way)
    return *way;
  InFlightDiagnostic diag = op->emitOpError("has no way on axis ")
                            << axis << " that its rule allows";
  if (name)
    diag << ": none is called " << name;
  return diag;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// One op's rule and layouts, and the check on one axis.
class WayChecker {
public:
  WayChecker(Operation *op, const FactorRule &rule) : op(op), rule(rule) {}

  LogicalResult run() {
    if (failed(collect()))
      return failure();
    if (!mesh)
      return success();
    for (unsigned axis = 0; axis < mesh.getNames().size(); ++axis)
      if (failed(checkAxis(axis)))
        return failure();
    return success();
  }

private:
  /// Reads the layouts. All tensors have one, on one mesh, or none has.
  LogicalResult collect() {
    auto read = [&](ValueRange values, StringRef what,
                    SmallVectorImpl<layout::Layout> &layouts) -> LogicalResult {
      for (auto [i, value] : llvm::enumerate(values)) {
        LayoutAttr attr = getLayoutAttr(value);
        if (first ? false : attr != LayoutAttr() != bool(mesh))
          return op->emitOpError()
                 << what << ' ' << i
                 << (attr ? " has a layout" : " has no layout")
                 << ", other tensors of the op "
                 << (attr ? "have none" : "have")
                 << "; run tp-shard, which gives every tensor one";
        if (attr && mesh && attr.getMesh() != mesh)
          return op->emitOpError() << what << ' ' << i << " is on another mesh";
        if (attr) {
          mesh = attr.getMesh();
          layouts.push_back(attr.getLayout());
        }
        first = false;
      }
      return success();
    };
    ways = op->getAttrOfType<DictionaryAttr>(getWaysAttrName());
    return failure(failed(read(op->getOperands(), "operand", operands)) ||
                   failed(read(op->getResults(), "result", results)));
  }

  /// Number of tensors whose state on `axis` is not what `way` says. From
  /// tp-shard to tp-insert-conjugates only results count.
  unsigned mismatches(Way way, unsigned axis) const {
    unsigned n = 0;
    if (!ways)
      for (auto [i, layout] : llvm::enumerate(operands))
        n += !fits(layout.state(axis), rule.operandState(way, i),
                   rule.integerOperand[i]);
    for (auto [i, layout] : llvm::enumerate(results))
      n += !fits(layout.state(axis), rule.resultState(way, i), false);
    return n;
  }

  /// Integers are R where floats would be C: they carry no gradient.
  static bool fits(State found, State wanted, bool integer) {
    if (integer && wanted.kind != StateKind::Split)
      return found == State::R() || found == State::C();
    return found == wanted;
  }

  LogicalResult checkAxis(unsigned axis) {
    StringAttr name = mesh.getNames()[axis];
    SmallVector<Way, 8> candidates = rule.ways();
    if (ways) {
      auto chosen = getChosenWay(op, rule, name);
      if (failed(chosen))
        return failure();
      candidates = {*chosen};
    }
    Way best = *llvm::min_element(candidates, [&](Way a, Way b) {
      return mismatches(a, axis) < mismatches(b, axis);
    });
    if (mismatches(best, axis))
      return reject(best, axis);
    return best.kind == WayKind::Split && !ways ? checkBlocks(best, axis)
                                                : success();
  }

  /// Names the op, the axis, the nearest way and the change that leads there.
  LogicalResult reject(Way way, unsigned axis) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "cannot be used on axis "
                              << mesh.getNames()[axis] << " with (";
    auto states = [&](ArrayRef<layout::Layout> layouts) {
      llvm::interleaveComma(layouts, diag, [&](const layout::Layout &l) {
        diag << l.state(axis).str();
      });
    };
    states(operands);
    diag << ") -> (";
    states(results);
    diag << "); the nearest way is " << rule.wayName(way) << ", which wants (";
    llvm::interleaveComma(
        llvm::seq<unsigned>(0, operands.size()), diag,
        [&](unsigned i) { diag << rule.operandState(way, i).str(); });
    diag << ") -> (";
    llvm::interleaveComma(
        llvm::seq<unsigned>(0, results.size()), diag,
        [&](unsigned i) { diag << rule.resultState(way, i).str(); });
    diag << ")";
    for (auto [i, layout] : llvm::enumerate(operands)) {
      State found = layout.state(axis), wanted = rule.operandState(way, i);
      if (!fits(found, wanted, rule.integerOperand[i]))
        return diag << ": " << cure(found, wanted, i), failure();
    }
    for (auto [i, layout] : llvm::enumerate(results)) {
      State found = layout.state(axis), wanted = rule.resultState(way, i);
      if (found != wanted)
        return diag << ": result " << i << " is " << wanted.str() << ", not "
                    << found.str(),
               failure();
    }
    return diag;
  }

  /// The change that leads from one state to the other, or two by way of R.
  std::string cure(State from, State to, unsigned operand) {
    MLIRContext *context = op->getContext();
    if (auto change = findChange(context, from.kind, to.kind))
      return llvm::formatv("put {0} on operand {1}", change->getStringRef(),
                           operand);
    auto first = findChange(context, from.kind, StateKind::Replicated);
    auto second = findChange(context, StateKind::Replicated, to.kind);
    if (first && second)
      return llvm::formatv("put {0}, then {1} on operand {2}",
                           first->getStringRef(), second->getStringRef(),
                           operand);
    return llvm::formatv("no change of layout leads from {0} to {1}, so choose "
                         "another layout where operand {2} is made",
                         from.str(), to.str(), operand);
  }

  /// All blocks of the split factor must agree: same padding in units of the
  /// factor, and boundaries between units.
  LogicalResult checkBlocks(Way way, unsigned axis) {
    int64_t size = rule.factors[way.factor].size;
    std::optional<int64_t> padded;
    auto check = [&](const layout::Layout &layout,
                     const FactorRule::Dims &dims) -> LogicalResult {
      std::optional<unsigned> d = FactorRule::majorDim(dims, way.factor);
      if (!d)
        return success();
      const layout::Factor &factor = layout.dims[*d].front();
      int64_t unit = factor.size / size;
      int64_t ranks = mesh.getSizes()[axis];
      if (factor.size % size || (factor.padded / ranks) % unit)
        return op->emitOpError()
               << "splits \"" << rule.factors[way.factor].name << "\" of "
               << size << " inside a unit: blocks of " << factor.padded / ranks
               << " are not a multiple of " << unit << "; pad it to "
               << llvm::alignTo(size, ranks) * unit;
      if (padded && *padded != factor.padded / unit)
        return op->emitOpError()
               << "has \"" << rule.factors[way.factor].name << "\" padded to "
               << *padded << " and to " << factor.padded / unit
               << "; one padding is wanted";
      padded = factor.padded / unit;
      return success();
    };
    for (auto [layout, dims] : llvm::zip(operands, rule.operands))
      if (failed(check(layout, dims)))
        return failure();
    for (auto [layout, dims] : llvm::zip(results, rule.results))
      if (failed(check(layout, dims)))
        return failure();
    return success();
  }

  Operation *op;
  const FactorRule &rule;
  MeshAttr mesh;
  DictionaryAttr ways;
  SmallVector<layout::Layout, 1> operands, results;
  bool first = true;
};
} // namespace

LogicalResult colrow::tp::detail::verifyShardable(Operation *op) {
  auto check = [&]() -> LogicalResult {
    auto rule = getRule(cast<ShardableOpInterface>(op));
    if (!rule)
      return op->emitOpError() << llvm::toString(rule.takeError());
    // After tp-partition types are local and plain; nothing is left to check.
    return WayChecker(op, *rule).run();
  };
  return cast<TPDialect>(op->getDialect())
      ->getRules()
      .checkOnce(op, op->getAttr(getWaysAttrName()), check);
}
