// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-optimize: gradient norm, clipping and AdamW as ordinary tp ops.

#include "colrow/Sharding/StepWork.h"
#include "colrow/passes/Passes.h"
#include <cmath>

namespace colrow::passes {
#define GEN_PASS_DEF_OPTIMIZE
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
/// One parameter that is trained.
struct Trained {
  tp::ParameterOp parameter;
  Value value; ///< at the start of the step
  Value gradient;
};

class StepBuilder {
public:
  StepBuilder(ModuleOp module, func::FuncOp step,
              const OptimizeOptions &options)
      : module(module), step(step), options(options), symbols(module),
        builder(step.getBody().back().getTerminator()),
        mesh(module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName())) {}

  LogicalResult run() {
    collect();
    if (trained.empty())
      return step.emitError("tp-optimize: the step has no gradients; run "
                            "tp-differentiate first");
    if (failed(checkMesh()) || failed(checkNames()))
      return failure();
    Location loc = step.getLoc();
    FloatAttr limit = options.clipGradNorm > 0
                          ? builder.getF64FloatAttr(options.clipGradNorm)
                          : FloatAttr();
    Type scalar = withPartial(RankedTensorType::get({}, builder.getF32Type()),
                              /*axes=*/{});
    auto clip =
        tp::ClipOp::create(builder, loc, scalar, scalar, sumSquares(), limit);
    tp::OutputOp::create(builder, loc, "grad_norm", FlatSymbolRefAttr(),
                         clip.getNorm(), tp::LayoutAttr(), TypeAttr());
    scale = clip.getScale();
    for (Trained &t : trained)
      update(t);
    predict();
    module->setAttr(
        tp::getOptimizerAttrName(),
        builder.getDictionaryAttr(
            {number("beta1", options.beta1), number("beta2", options.beta2),
             number("eps", options.eps),
             number("weight_decay", options.weightDecay),
             number("clip_grad_norm", options.clipGradNorm)}));
    return success();
  }

private:
  /// tp-shard predicted what belongs to a parameter; the norm of all of them
  /// and the clipping are made here.
  void predict() {
    SmallVector<Operation *> made;
    for (Operation &op : step.getBody().back().without_terminator())
      if (!isa<tp::SumSquaresOp, tp::AdamWOp>(op))
        made.push_back(&op);
    sharding::addToPrediction(step, made);
  }

  NamedAttribute number(StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  }

  void collect() {
    llvm::StringMap<Value> values;
    step.walk([&](tp::ParamOp p) { values.try_emplace(p.getSymbol(), p); });
    SmallVector<tp::OutputOp> outputs;
    step.walk([&](tp::OutputOp output) {
      if (output.getParameter())
        outputs.push_back(output);
    });
    for (tp::OutputOp output : outputs) {
      StringRef name = *output.getParameter();
      trained.push_back({symbols.lookup<tp::ParameterOp>(name),
                         values.lookup(name), output.getValue()});
      if (!options.keepGradients)
        output.erase();
    }
  }

  LogicalResult checkMesh() {
    for (Trained &t : trained)
      if (tp::LayoutAttr layout = tp::getLayoutAttr(t.gradient);
          layout && layout.getMesh() != mesh)
        return step.emitError("tp-optimize: the gradient of @")
               << t.parameter.getSymName() << " lies on " << layout.getMesh()
               << ", which is not the module's tp.mesh";
    return success();
  }

  /// States are named after their parameter; another symbol may have the name.
  LogicalResult checkNames() {
    for (Trained &t : trained)
      for (StringRef kind : {"master", "exp_avg", "exp_avg_sq"}) {
        std::string name = (t.parameter.getSymName() + "." + kind).str();
        Operation *other = symbols.lookup(name);
        if (other && (kind != "master" || isNarrow(t)))
          return other->emitError("tp-optimize: @")
                 << name << " is what the optimizer's state of @"
                 << t.parameter.getSymName() << " is called; rename it";
      }
    return success();
  }

  static bool isNarrow(Trained &t) {
    return !t.parameter.getTensorType().getElementType().isF32();
  }

  SmallVector<unsigned> axesThatSplit(Value value) {
    SmallVector<unsigned> axes;
    tp::LayoutAttr attr = tp::getLayoutAttr(value);
    for (unsigned axis = 0; attr && axis < mesh.getNames().size(); ++axis)
      if (attr.getLayout().state(axis).isSplit())
        axes.push_back(axis);
    return axes;
  }

  Type withPartial(RankedTensorType shape, ArrayRef<unsigned> axes) {
    if (!mesh)
      return shape;
    layout::Layout layout(shape.getRank());
    layout.partial.assign(axes.begin(), axes.end());
    return tp::withLayout(shape, tp::LayoutAttr::get(mesh, layout));
  }

  Value add(Value x, Value y) {
    return tp::AddOp::create(builder, y.getLoc(), y.getType(), x, y);
  }

  /// Sum of squares of all gradients. Sums of one set of partial axes meet
  /// before their all-reduce; what is replicated counts once.
  Value sumSquares() {
    SmallVector<Value> sums; // one per type, in order of appearance
    for (Trained &t : trained) {
      Value square = tp::SumSquaresOp::create(
          builder, t.gradient.getLoc(),
          withPartial(squares, axesThatSplit(t.gradient)), t.gradient);
      auto *same = llvm::find_if(
          sums, [&](Value sum) { return sum.getType() == square.getType(); });
      if (same == sums.end())
        sums.push_back(square);
      else
        *same = add(*same, square);
    }
    Value total;
    for (Value sum : sums) {
      Value whole = reduce(sum);
      total = total ? add(total, whole) : whole;
    }
    return total;
  }

  Value reduce(Value sum) {
    tp::LayoutAttr attr = tp::getLayoutAttr(sum);
    if (!attr || attr.getLayout().partial.empty())
      return sum;
    return tp::GOp::create(builder, sum.getLoc(),
                           withPartial(squares, /*axes=*/{}), sum,
                           axisNames(attr.getLayout().partial),
                           builder.getStringAttr("global gradient norm"));
  }

  ArrayAttr axisNames(ArrayRef<unsigned> axes) {
    SmallVector<Attribute> names;
    for (unsigned axis : axes)
      names.push_back(mesh.getNames()[axis]);
    return builder.getArrayAttr(names);
  }

  /// The clipping scale in the state that ops split over `axes` want.
  Value scaleFor(Trained &t) {
    SmallVector<unsigned> axes = axesThatSplit(t.gradient);
    if (axes.empty())
      return scale;
    for (auto &[known, value] : copies)
      if (known == axes)
        return value;
    layout::Layout layout(0);
    layout.copied.assign(axes.begin(), axes.end());
    Value copied = tp::FOp::create(
        builder, scale.getLoc(),
        tp::withLayout(scale.getType(), tp::LayoutAttr::get(mesh, layout)),
        scale, axisNames(axes),
        builder.getStringAttr("scale of split gradients"));
    copies.push_back({axes, copied});
    return copied;
  }

  Value state(Trained &t, StringRef kind, bool isMaster = false) {
    std::string name = (t.parameter.getSymName() + "." + kind).str();
    OpBuilder atModule(module.getContext());
    atModule.setInsertionPointAfter(t.parameter);
    auto symbol = tp::StateOp::create(
        atModule, t.parameter.getLoc(), name, t.parameter.getSymName(), kind,
        tp::inFloat32(t.parameter.getType()), TypeAttr());
    symbol.setMaster(isMaster);
    return tp::ParamOp::create(builder, t.gradient.getLoc(), symbol.getType(),
                               name);
  }

  void set(Trained &t, StringRef kind, Value value) {
    std::string name = (t.parameter.getSymName() + kind).str();
    tp::UpdateOp::create(builder, value.getLoc(), name, value);
  }

  void update(Trained &t) {
    double decay =
        t.parameter.getCheckpointRank() >= 2 ? options.weightDecay : 0;
    Value m = state(t, "exp_avg"), v = state(t, "exp_avg_sq");
    // What is stored in bf16 is trained in float32 all the same: steps are
    // smaller than what bf16 can add.
    Value p = isNarrow(t) ? state(t, "master", /*isMaster=*/true) : t.value;
    auto op = tp::AdamWOp::create(
        builder, t.gradient.getLoc(), p.getType(), m.getType(), v.getType(), p,
        t.gradient, m, v, scaleFor(t), builder.getF64FloatAttr(options.beta1),
        builder.getF64FloatAttr(options.beta2),
        builder.getF64FloatAttr(options.eps), builder.getF64FloatAttr(decay));
    set(t, "",
        tp::castTo(builder, op.getLoc(), op.getNewP(), t.value.getType()));
    if (isNarrow(t))
      set(t, ".master", op.getNewP());
    set(t, ".exp_avg", op.getNewM());
    set(t, ".exp_avg_sq", op.getNewV());
  }

  ModuleOp module;
  func::FuncOp step;
  const OptimizeOptions &options;
  SymbolTable symbols;
  OpBuilder builder;
  tp::MeshAttr mesh;
  /// What tp.sum_squares gives.
  RankedTensorType squares = RankedTensorType::get({3}, builder.getF32Type());
  SmallVector<Trained> trained;
  SmallVector<std::pair<SmallVector<unsigned>, Value>> copies;
  Value scale;
};

/// What no op may be there to refuse is refused here.
LogicalResult check(ModuleOp module, const OptimizeOptions &options) {
  auto isFraction = [](double x) { return x >= 0 && x < 1; };
  auto isNumber = [](double x) { return x >= 0 && std::isfinite(float(x)); };
  auto isPositive = [&](double x) { return isNumber(x) && float(x) > 0; };
  bool clips = options.clipGradNorm != 0;
  for (auto [name, value, fits] :
       {std::tuple("beta1", options.beta1, isFraction(options.beta1)),
        {"beta2", options.beta2, isFraction(options.beta2)},
        {"eps", options.eps, isPositive(options.eps)},
        {"weight-decay", options.weightDecay, isNumber(options.weightDecay)},
        {"clip-grad-norm", options.clipGradNorm,
         !clips || isPositive(options.clipGradNorm)}})
    if (!fits)
      return module.emitError("tp-optimize: ")
             << name << " is " << value
             << "; wanted betas from 0 to less than 1, eps above 0, the others "
                "from 0 on, all finite in float32";
  return success();
}

struct OptimizePass : passes::impl::OptimizeBase<OptimizePass> {
  using OptimizeBase::OptimizeBase;

  void runOnOperation() override {
    OptimizeOptions options;
    options.beta1 = beta1;
    options.beta2 = beta2;
    options.eps = eps;
    options.weightDecay = weightDecay;
    options.clipGradNorm = clipGradNorm;
    options.keepGradients = keepGradients;
    auto functions = getStepFunctions(getOperation());
    if (failed(check(getOperation(), options)) || failed(functions))
      return signalPassFailure();
    if (functions->trained &&
        failed(StepBuilder(getOperation(), functions->trained, options).run()))
      signalPassFailure();
  }
};
} // namespace
