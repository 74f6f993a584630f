// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-mixed-precision: which values of a graph are bf16, decided once.

#include "colrow/Sharding/Gradients.h"
#include "colrow/Sharding/Scratch.h"
#include "colrow/passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace colrow::passes {
#define GEN_PASS_DEF_MIXEDPRECISION
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
/// What an op wants of its floats.
enum class Precision {
  Narrow, ///< bf16: it is bound by arithmetic
  Wide,   ///< float32: it takes statistics of rows
  Any     ///< what it gets
};

/// Element types of an op's operands and results, null where nothing is asked:
/// integers, and memory of parameters that the op takes as it is stored.
struct Types {
  SmallVector<Type, 4> operands, results;
};

/// Decides the types of all functions, then writes them.
class Narrower {
public:
  Narrower(ModuleOp module, bool roundShares)
      : module(module), roundShares(roundShares), symbols(module),
        f32(Float32Type::get(module.getContext())),
        bf16(BFloat16Type::get(module.getContext())) {}

  LogicalResult run(const StepFunctions &functions) {
    findTrained(functions);
    for (func::FuncOp step : functions.all)
      for (Operation &op : step.getBody().front().without_terminator())
        if (failed(decide(&op)))
          return failure();
    for (tp::ParameterOp parameter : stored)
      parameter.setType(tp::withElementsOf(parameter.getType(), bf16));
    for (func::FuncOp step : functions.all)
      write(step, roundShares && step == functions.trained);
    return success();
  }

private:
  /// The parameter whose memory `value` is, perhaps reshaped; null for others.
  tp::ParameterOp parameterOf(Value value) {
    Operation *op = value.getDefiningOp();
    while (isa_and_nonnull<tp::ReshapeOp, tp::StopGradientOp>(op))
      op = op->getOperand(0).getDefiningOp();
    auto param = dyn_cast_or_null<tp::ParamOp>(op);
    return param ? symbols.lookup<tp::ParameterOp>(param.getSymbol())
                 : tp::ParameterOp();
  }

  /// A parameter without gradient has no float32 copy that its checkpoint could
  /// keep, so where something is trained it stays as it is.
  void findTrained(const StepFunctions &functions) {
    if (!functions.trained)
      return mayNarrow.insert_range(module.getOps<tp::ParameterOp>());
    func::FuncOp step = functions.trained;
    sharding::Gradients gradients(module, step);
    step.walk([&](tp::ParamOp param) {
      if (gradients.reach(param.getResult()))
        mayNarrow.insert(parameterOf(param));
    });
  }

  /// The element type that `value` will have.
  Type elementOf(Value value) {
    Type decided = elements.lookup(value);
    return decided ? decided : getElementTypeOrSelf(value);
  }

  /// Contractions are what work items say they are, statistics what factor
  /// rules say.
  static FailureOr<Precision> precisionOf(Operation *op) {
    auto shardable = dyn_cast<tp::ShardableOpInterface>(op);
    if (!shardable)
      return Precision::Any;
    auto rule = tp::getRule(shardable);
    if (!rule)
      return op->emitOpError() << llvm::toString(rule.takeError());
    if (llvm::any_of(rule->factors, [](auto &f) { return f.stats; }))
      return Precision::Wide;
    auto work = tp::workOf(op, layout::Mesh());
    bool multiplies = work && (std::holds_alternative<cost::Gemm>(*work) ||
                               std::holds_alternative<cost::Attention>(*work));
    return multiplies ? Precision::Narrow : Precision::Any;
  }

  LogicalResult decide(Operation *op) {
    if (isa<tp::ParamOp, tp::CastOp>(op)) // say their types themselves
      return success();
    auto precision = precisionOf(op);
    if (failed(precision))
      return failure();
    bool isAlias = op->getNumResults() == 1 && parameterOf(op->getResult(0));
    bool isOfParameters = *precision == Precision::Any;
    bool isNarrow = true;
    for (Value operand : op->getOperands())
      if (tp::carriesGradient(operand) && !parameterOf(operand)) {
        isOfParameters = false;
        isNarrow &= elementOf(operand) == bf16;
      }
    if (isAlias || isOfParameters)
      return success();
    bool isAny = *precision == Precision::Any;
    Type own =
        (isAny ? isNarrow : *precision == Precision::Narrow) ? bf16 : f32;
    auto types = fit(op, own, /*asIs=*/isAny);
    if (!types && isAny)
      types = fit(op, own, /*asIs=*/false);
    note(op, types ? *types : declared(op));
    return success();
  }

  /// The types that the graph gives `op`, which mixes them in a way of its own.
  static Types declared(Operation *op) {
    auto elements = [](ValueRange values) {
      return llvm::map_to_vector<4>(values, [](Value value) {
        return tp::carriesGradient(value) ? getElementTypeOrSelf(value)
                                          : Type();
      });
    };
    return {elements(op->getOperands()), elements(op->getResults())};
  }

  /// Types that the op's own constraints allow: operands of `element`, or as
  /// they come; results in bf16 if they can be. nullopt if there are none.
  std::optional<Types> fit(Operation *op, Type element, bool asIs) {
    Types types;
    SmallVector<Type> operands;
    for (Value operand : op->getOperands()) {
      Type wanted = !tp::carriesGradient(operand)   ? Type()
                    : asIs && !parameterOf(operand) ? elementOf(operand)
                                                    : element;
      types.operands.push_back(wanted);
      operands.push_back(wanted ? tp::withElementsOf(operand.getType(), wanted)
                                : operand.getType());
    }
    SmallVector<unsigned> floats;
    for (OpResult result : op->getResults())
      if (tp::carriesGradient(result))
        floats.push_back(result.getResultNumber());
    // Bit i of `wide`: float result i is f32.
    for (unsigned wide = element == f32 ? (1u << floats.size()) - 1 : 0;
         wide < 1u << floats.size(); ++wide) {
      SmallVector<Type> results(op->getResultTypes());
      types.results.assign(results.size(), Type());
      for (auto [bit, i] : llvm::enumerate(floats)) {
        types.results[i] = wide >> bit & 1 ? f32 : bf16;
        results[i] = tp::withElementsOf(results[i], types.results[i]);
      }
      if (isValid(op, operands, results))
        return types;
    }
    return std::nullopt;
  }

  /// Whether `op` may have these types.
  bool isValid(Operation *op, TypeRange operands, TypeRange results) {
    auto [it, isNew] =
        valid.try_emplace(sharding::signatureOf(op, operands, results), false);
    if (!isNew)
      return it->second;
    sharding::Scratch scratch(op->getContext());
    Operation *copy = scratch.clone(op, operands, results);
    ScopedDiagnosticHandler silent(op->getContext(),
                                   [](Diagnostic &) { return success(); });
    it->second = succeeded(copy->getName().verifyInvariants(copy));
    return it->second;
  }

  void note(Operation *op, const Types &types) {
    for (auto [operand, type] : llvm::zip(op->getOperands(), types.operands))
      if (tp::ParameterOp parameter = parameterOf(operand);
          parameter && type == bf16 && mayNarrow.contains(parameter))
        stored.insert(parameter);
    for (auto [result, type] : llvm::zip(op->getResults(), types.results))
      if (type)
        elements[result] = type;
    decided[op] = types;
  }

  void write(func::FuncOp step, bool rounds) {
    Block &body = step.getBody().front();
    Operation *ret = body.getTerminator();
    SmallVector<Type> returned(ret->getOperandTypes());
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      writeTypes(&op);
    for (auto param : body.getOps<tp::ParamOp>())
      param.setRoundShares(rounds && getElementTypeOrSelf(param) == bf16);
    // What leaves does so in the type that the function says.
    for (auto [use, type] : llvm::zip(ret->getOpOperands(), returned))
      if (tp::carriesGradient(use.get()))
        use.set(convert(use.get(), getElementTypeOrSelf(type)));
  }

  void writeTypes(Operation *op) {
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      if (auto parameter = parameterOf(param.getResult()))
        param.getResult().setType(parameter.getTensorType());
      return;
    }
    auto it = decided.find(op);
    if (it == decided.end())
      return isa<tp::CastOp>(op) ? void() : writeAsStored(op);
    for (auto [use, type] : llvm::zip(op->getOpOperands(), it->second.operands))
      if (type)
        use.set(convert(use.get(), type));
    for (auto [result, type] : llvm::zip(op->getResults(), it->second.results))
      if (type)
        result.setType(tp::withElementsOf(result.getType(), type));
  }

  /// An op of parameters alone takes them as they are stored, if that is one
  /// type that it allows; what it makes is f32, unless it is their memory.
  void writeAsStored(Operation *op) {
    SmallVector<OpOperand *> floats;
    for (OpOperand &use : op->getOpOperands())
      if (tp::carriesGradient(use.get()))
        floats.push_back(&use);
    bool isNarrow = !floats.empty() && llvm::all_of(floats, [&](auto *use) {
      return getElementTypeOrSelf(use->get()) == bf16;
    });
    auto types = isNarrow ? fit(op, bf16, /*asIs=*/false) : std::nullopt;
    for (OpOperand *use : floats)
      use->set(convert(use->get(), types ? bf16 : f32));
    if (!types)
      return;
    for (auto [result, type] : llvm::zip(op->getResults(), types->results)) {
      if (type != bf16 || getElementTypeOrSelf(result) == bf16)
        continue;
      result.setType(tp::withElementsOf(result.getType(), bf16));
      if (!parameterOf(result)) {
        Value wide = convert(result, f32);
        result.replaceAllUsesExcept(wide, wide.getDefiningOp());
      }
    }
  }

  /// `value` with elements of `type`: one cast for all uses, where the value is
  /// made, so that it becomes part of that kernel.
  Value convert(Value value, Type type) {
    if (getElementTypeOrSelf(value) == type)
      return value;
    Value &known = casts[{value, type}];
    if (!known) {
      OpBuilder builder(module.getContext());
      builder.setInsertionPointAfterValue(value);
      known = tp::castTo(builder, value.getLoc(), value,
                         tp::withElementsOf(value.getType(), type));
    }
    return known;
  }

  ModuleOp module;
  bool roundShares;
  SymbolTable symbols;
  Type f32, bf16;
  llvm::DenseSet<Operation *> mayNarrow;
  llvm::SetVector<tp::ParameterOp> stored;
  llvm::DenseMap<Value, Type> elements;
  llvm::DenseMap<Operation *, Types> decided;
  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
  std::map<std::vector<const void *>, bool> valid;
};

struct MixedPrecisionPass
    : passes::impl::MixedPrecisionBase<MixedPrecisionPass> {
  using MixedPrecisionBase::MixedPrecisionBase;

  void runOnOperation() override {
    bool rounds = gradReduce == "bf16";
    if (dtype != "bf16" || (!rounds && gradReduce != "f32")) {
      getOperation().emitError("tp-mixed-precision: dtype=")
          << dtype << " with grad-reduce=" << gradReduce
          << "; wanted dtype=bf16, with grad-reduce=f32 or bf16";
      return signalPassFailure();
    }
    auto functions = getForwardFunctions(getOperation());
    if (failed(functions) ||
        failed(Narrower(getOperation(), rounds).run(*functions)))
      signalPassFailure();
  }
};
} // namespace
