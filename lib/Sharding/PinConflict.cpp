// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pins: which choices they leave, and why they cannot all be obeyed. The
// reason is asked of the solver itself, with some of the pins: so it is as
// exact as the solver, and costs only where compiling fails anyway.

#include "colrow/Sharding/AxisProblem.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;
using layout::State;

/// Leaves each parameter the choices that its pin allows.
void AxisProblem::obey(const Pins &pins) {
  for (auto &[parameter, stored] : parameters) {
    const auto *pin = pins.find(parameter);
    const ChangeQuery &query = infoOf(stored.value).query;
    auto &choices = problem.choices[stored.choiceTable].choices;
    choices.clear();
    for (const solver::Choice &choice : stored.all.choices)
      if (pin == pins.end() ||
          query.states[choice.resultStates[0]].state == State::S(pin->second))
        choices.push_back(choice);
  }
}

llvm::Expected<solver::Solution> AxisProblem::find(const Pins &pins) {
  obey(pins);
  solver::Options options;
  options.nodeName = [&](unsigned node) { return nameOf(node); };
  return solver::solve(problem, options);
}

/// The node that leaves no solution under `pins`; none if there is one.
std::optional<unsigned> AxisProblem::infeasibleNode(const Pins &pins) {
  auto result = find(pins);
  std::optional<unsigned> node;
  if (!result)
    llvm::handleAllErrors(
        result.takeError(),
        [&](const solver::Infeasible &error) { node = error.getNode(); },
        [](const llvm::ErrorInfoBase &) {});
  return node;
}

/// The fewest of `pins`, which have no solution, that have none together: each
/// of them alone taken away, there is one. The last pin of the shortest prefix
/// without a solution is always one of them.
Pins AxisProblem::fewestOf(const Pins &pins) {
  Pins conflict;
  auto rest = llvm::to_vector(pins);
  while (!infeasibleNode(conflict)) {
    auto prefix = llvm::seq<size_t>(0, rest.size() + 1);
    auto first = llvm::partition_point(prefix, [&](size_t length) {
      Pins tried = conflict;
      for (auto &pin : ArrayRef(rest).take_front(length))
        tried.insert(pin);
      return !infeasibleNode(tried);
    });
    conflict.insert(rest[*first - 1]);
    rest.truncate(*first - 1);
  }
  return conflict;
}

std::string AxisProblem::storedNote() {
  if (!anyStored)
    return "";
  return "; '" + step.getSymName().str() +
         "' reads parameters as the functions before it store them";
}

std::string AxisProblem::pinText(Operation *parameter, unsigned dim) const {
  return llvm::formatv("{0}={1}:{2}",
                       cast<tp::ParameterOp>(parameter).getSymName(), dim,
                       table.getAxisName().getValue());
}

/// Where `conflict` shows.
std::string AxisProblem::reasonFor(const Pins &conflict) {
  unsigned node = *infeasibleNode(conflict);
  if (isa_and_nonnull<tp::ParamOp>(opOfNode[node]))
    return llvm::formatv("axis {0} splits dimensions that ops tie to one of a "
                         "parameter of rank 2 or more, and this is none",
                         table.getAxisName().getValue());
  return nameOf(node) + " has no way for that";
}

/// What `parameter` may be, the other pins of `conflict` obeyed.
std::string AxisProblem::insteadOf(Operation *parameter, Pins conflict) {
  std::string text;
  unsigned rank = cast<tp::ParameterOp>(parameter).getTensorType().getRank();
  for (unsigned d = 0; d < rank; ++d) {
    conflict[parameter] = d;
    if (!infeasibleNode(conflict))
      text += pinText(parameter, d) + " or ";
  }
  return text + "no pin";
}

LogicalResult AxisProblem::refuse(const Pins &pins) {
  Pins conflict = fewestOf(pins);
  if (conflict.empty())
    return module.emitError("tp-shard: ")
           << llvm::toString(find(conflict).takeError()) << storedNote();
  Operation *op = opOfNode[*infeasibleNode(conflict)];
  InFlightDiagnostic diag = emitError(op ? op->getLoc() : step.getLoc())
                            << "tp-shard: "
                            << (conflict.size() > 1 ? "pins " : "pin ");
  StringRef separator = "";
  for (auto &[parameter, dim] : conflict) {
    diag << std::exchange(separator, " and ") << "'" << pinText(parameter, dim)
         << "' ("
         << cast<tp::ParameterOp>(parameter).getTensorType().getDimSize(dim)
         << " over " << mesh.groupSize(axis) << " ranks)";
  }
  diag << (conflict.size() > 1 ? " contradict each other" : " cannot hold")
       << ": " << reasonFor(conflict);
  for (auto &[parameter, dim] : conflict)
    diag << "; in place of '" << pinText(parameter, dim) << "', "
         << insteadOf(parameter, conflict) << " works";
  return diag << storedNote();
}
