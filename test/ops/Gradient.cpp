// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What buildGradients builds, against central differences of the op itself.

#include "Instance.h"
#include "PlanInterpreter.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace colrow;
using namespace colrow::optest;

namespace {
/// The function of an op and of its gradients, on one rank:
/// inputs arg<i> and seed<r>, outputs result<r> and gradient<i>.
class GradientBuilder {
public:
  explicit GradientBuilder(Instance op)
      : op(op), context(op->getContext()), builder(context),
        loc(UnknownLoc::get(context)) {
    layout::Mesh mesh;
    mesh.axes.push_back({"tp", 1, layout::AxisRole::Feature});
    meshAttr = tp::MeshAttr::get(context, mesh);
    for (OpOperand &operand : op->getOpOperands())
      wanted.push_back(llvm::any_of(op->getResults(), [&](OpResult result) {
        return flows(result, operand);
      }));
  }

  static bool flows(OpResult result, OpOperand &operand) {
    return tp::carriesGradient(result) && tp::carriesGradient(operand.get()) &&
           tp::getGradientFlow(result, operand) == tp::GradientFlow::Built;
  }
  bool leads(OpResult result) {
    return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return flows(result, operand);
    });
  }

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    (*module)->setAttr(tp::getMeshAttrName(), meshAttr);
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, loc, "run",
                                    builder.getFunctionType({}, {}));
    function.addEntryBlock();
    builder.setInsertionPointToStart(&function.getBody().front());
    OperationState state(loc, op->getName());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      state.addOperands(argument(operand.getType(), "arg" + std::to_string(i)));
    for (Type type : op->getResultTypes())
      state.addTypes(placed(type));
    state.addAttributes(op->getAttrs());
    Operation *made = builder.create(state);
    SmallVector<Value> seeds;
    for (OpResult result : op->getResults()) {
      std::string number = std::to_string(result.getResultNumber());
      seeds.push_back(leads(result)
                          ? argument(result.getType(), "seed" + number)
                          : Value());
      if (leads(result))
        output("result" + number, made->getResult(result.getResultNumber()));
    }
    auto gradients = cast<tp::DifferentiableOpInterface>(made).buildGradients(
        builder, seeds, wanted);
    for (auto [i, gradient] : llvm::enumerate(gradients))
      if (wanted[i])
        output("gradient" + std::to_string(i), gradient);
    func::ReturnOp::create(builder, loc);
    return module;
  }

  SmallVector<bool> wanted;

private:
  RankedTensorType placed(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tp::withLayout(
        tensor, tp::LayoutAttr::replicated(meshAttr, tensor.getRank()));
  }
  Value argument(Type type, StringRef name) {
    return addInput(function, placed(type), name);
  }
  void output(const std::string &name, Value value) {
    addOutput(builder, name, value);
  }

  Instance op;
  MLIRContext *context;
  OpBuilder builder;
  Location loc;
  tp::MeshAttr meshAttr;
  func::FuncOp function;
};

/// sum over results of <seed, result>, whose gradient is compared.
class Differences {
public:
  Differences(Instance op, GradientBuilder &builder,
              planir::PlanInterpreter &program)
      : op(op), builder(builder), program(program) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      // Away from integers, where some functions have a kink.
      operands.push_back(operandValues(op, i, Signs::Positive, 0.35));
      set(i);
    }
    for (OpResult result : op->getResults()) {
      unsigned r = result.getResultNumber();
      auto type = cast<RankedTensorType>(result.getType());
      Values &seed = seeds.emplace_back();
      for (int64_t k = 0; k < type.getNumElements(); ++k)
        seed.push_back((k * 7 + r) % 5 - 1.75);
      if (builder.leads(result))
        program.set("seed" + std::to_string(r), seed);
    }
    program.run();
  }

  /// Errors: about step^2, and 1e-16 / step.
  Values of(unsigned i) {
    Values quotients;
    for (double &x : operands[i]) {
      const double step = 1e-5, at = x;
      x = at + step;
      double above = totalWith(i);
      x = at - step;
      quotients.push_back((above - totalWith(i)) / (2 * step));
      x = at;
    }
    set(i);
    return quotients;
  }

private:
  void set(unsigned i) { program.set("arg" + std::to_string(i), operands[i]); }

  double totalWith(unsigned i) {
    set(i);
    program.run();
    double sum = 0;
    for (OpResult result : op->getResults())
      if (builder.leads(result)) {
        unsigned r = result.getResultNumber();
        Values values = program.get("result" + std::to_string(r));
        for (auto [value, seed] : llvm::zip_equal(values, seeds[r]))
          sum += value * seed;
      }
    return sum;
  }

  Instance op;
  GradientBuilder &builder;
  planir::PlanInterpreter &program;
  std::vector<Values> operands, seeds;
};
} // namespace

static llvm::Error compare(unsigned operand, const Values &built,
                           const Values &quotients) {
  double scale = 0;
  for (double x : quotients)
    scale = std::max(scale, std::abs(x));
  if (!(scale > 1e-3))
    return llvm::createStringError(llvm::formatv(
        "the gradient of operand {0} is zero everywhere: the example shows "
        "nothing",
        operand));
  for (auto [k, pair] : llvm::enumerate(llvm::zip_equal(built, quotients))) {
    auto [found, wanted] = pair;
    if (!(std::abs(found - wanted) <= 1e-6 * scale))
      return llvm::createStringError(llvm::formatv(
          "gradient of operand {0} differs at element {1}: {2:f9}, by "
          "differences {3:f9}",
          operand, k, found, wanted));
  }
  return llvm::Error::success();
}

llvm::Expected<unsigned> optest::checkGradients(Instance op) {
  GradientBuilder builder(op);
  if (!isa<tp::DifferentiableOpInterface>(op) ||
      !llvm::is_contained(builder.wanted, true))
    return 0;
  OwningOpRef<ModuleOp> module = builder.build();
  if (llvm::Error error = lowerToInstructions(*module, false))
    return std::move(error);
  auto program = planir::PlanInterpreter::create(*module, scalarsOfRuns());
  if (!program)
    return program.takeError();
  Differences differences(op, builder, *program);
  std::map<unsigned, Values> built;
  for (auto [i, want] : llvm::enumerate(builder.wanted))
    if (want)
      built[i] = program->get("gradient" + std::to_string(i));
  for (const auto &[i, gradient] : built)
    if (llvm::Error error = compare(i, gradient, differences.of(i)))
      return std::move(error);
  return built.size();
}
