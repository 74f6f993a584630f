// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The solution of an axis' problem, as layouts and ways.

#include "colrow/Sharding/AxisProblem.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;

std::string AxisProblem::nameOf(unsigned node) const {
  Operation *op = opOfNode[node];
  if (!op)
    return "an argument";
  std::string name = op->getName().getStringRef().str();
  if (auto param = dyn_cast<tp::ParamOp>(op))
    name += " @" + param.getSymbol().str();
  else if (StringAttr model = tp::modelName(op->getLoc()))
    name += " \"" + model.str() + "\"";
  return name;
}

LogicalResult AxisProblem::solve(const Pins &pins) {
  auto result = find(pins);
  if (!result && result.errorIsA<solver::Infeasible>() && !pins.empty()) {
    llvm::consumeError(result.takeError());
    return refuse(pins);
  }
  if (!result)
    return module.emitError("tp-shard: ")
           << llvm::toString(result.takeError()) << storedNote();
  solution = std::move(*result);
  return success();
}

LogicalResult AxisProblem::checkExhaustively() const {
  double assignments = 1;
  for (const solver::Node &node : problem.nodes)
    assignments *= problem.choices[node.choiceTable].choices.size();
  if (assignments > 1e8)
    return module->emitError("tp-shard: ")
           << problem.nodes.size() << " nodes have more than 10^8 assignments, "
           << "too many to try";
  solver::Cost best = solver::bruteForce(problem).total;
  if (best == solution.total)
    return success();
  return module->emitError("tp-shard: the solver found ")
         << solution.total.picoseconds << " ps, but an assignment of "
         << best.picoseconds << " ps exists";
}

void AxisProblem::write() {
  MLIRContext *context = module.getContext();
  for (auto [value, i] : valueIndex)
    value.setType(tp::withLayout(
        value.getType(), values[valueKind[i]].layouts[solution.state[i]]));
  for (auto param : step.getBody().front().getOps<tp::ParamOp>())
    parameterOf(param).setType(param.getResult().getType());
  for (auto &[op, place] : nodeOf) {
    StringAttr way = ops[place.second].ways[solution.choice[place.first]];
    op->setAttr(
        tp::getWaysAttrName(),
        DictionaryAttr::get(context, NamedAttribute(table.getAxisName(), way)));
  }
  step.setFunctionType(FunctionType::get(
      context, step.getBody().getArgumentTypes(),
      step.getBody().front().getTerminator()->getOperandTypes()));
}
