// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-shard: options in, layouts out; lib/Sharding makes the problem and writes
// its solution.

#include "colrow/Sharding/AxisProblem.h"
#include "colrow/Sharding/TopologyAttr.h"
#include "colrow/passes/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace colrow::passes {
#define GEN_PASS_DEF_SHARD
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

/// The symbols that some function reads.
static llvm::StringSet<> findReads(ArrayRef<func::FuncOp> functions) {
  llvm::StringSet<> read;
  for (func::FuncOp step : functions)
    step.walk([&](tp::ParamOp p) { read.insert(p.getSymbol()); });
  return read;
}

/// Parses the pins, each PARAM=DIM:AXIS, of axis `axis` of `mesh`.
static FailureOr<sharding::Pins>
readPins(ModuleOp module, ArrayRef<func::FuncOp> functions,
         ArrayRef<std::string> texts, const layout::Mesh &mesh, unsigned axis) {
  SymbolTable symbols(module);
  llvm::StringSet<> read = findReads(functions);
  sharding::Pins pins;
  for (StringRef text : texts) {
    auto [name, place] = text.rsplit('=');
    auto [dimText, axisName] = place.split(':');
    unsigned dim;
    if (name.empty() || dimText.getAsInteger(10, dim) || axisName.empty())
      return module.emitError() << "pin '" << text
                                << "': wanted PARAM=DIM:AXIS, as in "
                                   "transformer.wte.weight=0:tp";
    auto parameter = symbols.lookup<tp::ParameterOp>(name);
    if (!parameter)
      return module.emitError()
             << "pin '" << text << "': no parameter is called '" << name
             << "'; tp-import prints their names";
    std::optional<unsigned> pinned = mesh.find(axisName);
    if (!pinned)
      return module.emitError()
             << "pin '" << text << "': the mesh has no axis '" << axisName
             << "'";
    if (dim >= parameter.getTensorType().getRank())
      return module.emitError()
             << "pin '" << text << "': '" << name << "' has "
             << parameter.getTensorType().getRank() << " dimensions";
    if (!read.contains(name))
      return module.emitError()
             << "pin '" << text << "': the step never reads '" << name << "'";
    // One rank holds the whole, split or not. Types do not say so, and the
    // order of sums, of gradients for instance, would follow them.
    if (*pinned != axis || mesh.groupSize(axis) == 1)
      continue;
    auto [it, isNew] = pins.try_emplace(parameter, dim);
    if (!isNew && it->second != dim)
      return module.emitError()
             << "pin '" << text << "': '" << name
             << "' is already pinned on dimension " << it->second;
  }
  return pins;
}

/// Erases what nothing reads, and makes one read of each parameter of many: a
/// parameter has one layout, and one change of it to each other state.
static void tidy(func::FuncOp step) {
  Block &body = step.getBody().front();
  llvm::StringMap<tp::ParamOp> first;
  for (Operation &op : llvm::make_early_inc_range(body))
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      auto [it, isNew] = first.try_emplace(param.getSymbol(), param);
      if (!isNew)
        param.replaceAllUsesWith(it->second.getResult());
    }
  eraseUnread(step);
}

/// Parameters that no function reads stay whole.
static void placeUnread(ModuleOp module, tp::MeshAttr mesh) {
  for (auto parameter : module.getOps<tp::ParameterOp>())
    if (!tp::getLayoutAttr(parameter.getType()))
      parameter.setType(tp::withLayout(
          parameter.getType(), tp::LayoutAttr::replicated(
                                   mesh, parameter.getTensorType().getRank())));
}

/// What the solver minimised is what its layouts and ways say, op by op.
static LogicalResult checkPrediction(ModuleOp module,
                                     const solver::Cost &solved,
                                     const sharding::StepTotals &predicted) {
  if (solved == solver::Cost{predicted.picoseconds, predicted.collectives,
                             predicted.bytes})
    return success();
  return module.emitError("tp-shard: internal error: the solution costs ")
         << solved.picoseconds << " ps, " << solved.collectives
         << " collectives and " << solved.bytes
         << " bytes, but its layouts and ways cost " << predicted.picoseconds
         << " ps, " << predicted.collectives << " collectives and "
         << predicted.bytes << " bytes";
}

namespace {
struct ShardPass : passes::impl::ShardBase<ShardPass> {
  using ShardBase::ShardBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    auto parsed = layout::Mesh::parse(mesh);
    if (!parsed)
      return module.emitError("tp-shard: ")
             << llvm::toString(parsed.takeError());
    if (parsed->axes.size() != 1 ||
        parsed->axes[0].role != layout::AxisRole::Feature)
      return module.emitError("tp-shard: mesh '")
             << mesh << "': one feature axis is supported so far, as in tp=4; "
             << "batch axes and several axes are not";
    cost::Topology topo = cost::defaultTopology();
    if (!topology.empty()) {
      auto read = cost::readTopology(topology);
      if (!read)
        return module.emitError("tp-shard: ")
               << llvm::toString(read.takeError());
      topo = *read;
    }
    cost::CostModel model(topo);
    if (llvm::Error e = model.checkRanks(parsed->ranks()))
      return module.emitError("tp-shard: ") << llvm::toString(std::move(e));
    auto functions = getForwardFunctions(module);
    if (failed(functions))
      return failure();
    SmallVector<std::string> pinTexts(pins.begin(), pins.end());
    auto pinned =
        readPins(module, functions->all, pinTexts, *parsed, /*axis=*/0);
    if (failed(pinned))
      return failure();
    if (!topology.empty())
      module->setAttr(tp::getTopologyAttrName(),
                      sharding::toAttr(topo, &getContext()));
    llvm::for_each(functions->all, tidy);
    return solveAll(functions->all, tp::MeshAttr::get(&getContext(), *parsed),
                    model, *pinned);
  }

  /// The trained function comes first: the others take the parameters as it
  /// stores them.
  LogicalResult solveAll(ArrayRef<func::FuncOp> functions, tp::MeshAttr mesh,
                         const cost::CostModel &model,
                         const sharding::Pins &pinned) {
    ModuleOp module = getOperation();
    auto classes = sharding::DimClasses::read(module, functions);
    if (failed(classes))
      return failure();
    sharding::WorkTable table(mesh, /*axis=*/0, model);
    for (func::FuncOp step : functions)
      if (failed(solve(step, **classes, table, pinned)))
        return failure();
    module->setAttr(tp::getMeshAttrName(), mesh);
    placeUnread(module, mesh);
    return success();
  }

  LogicalResult solve(func::FuncOp step, const sharding::DimClasses &classes,
                      sharding::WorkTable &table,
                      const sharding::Pins &pinned) {
    ModuleOp module = getOperation();
    sharding::Gradients gradients(module, step);
    sharding::AxisProblem problem(module, step, classes, gradients, table);
    if (failed(problem.build()) || failed(problem.solve(pinned)) ||
        (checkExhaustively && failed(problem.checkExhaustively())))
      return failure();
    problem.write();
    auto predicted = sharding::predictStep(step, gradients, table);
    if (failed(predicted) ||
        failed(
            checkPrediction(module, problem.getSolution().total, *predicted)))
      return failure();
    step->setAttr(tp::getPredictedAttrName(), predicted->toAttr(&getContext()));
    computed += problem.getSolution().transitionsComputed;
    transitions = computed;
    return success();
  }

  unsigned computed = 0;
};
} // namespace
