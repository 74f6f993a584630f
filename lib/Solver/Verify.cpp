// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a problem must satisfy before it is solved.

#include "Names.h"

#include "llvm/Support/FormatVariadic.h"

using namespace colrow::solver;
using llvm::Error;
using llvm::formatv;

std::string colrow::solver::nameOf(const Options &options, unsigned node) {
  return options.nodeName ? options.nodeName(node)
                          : ("node " + llvm::Twine(node)).str();
}

Error colrow::solver::errorAt(const Options &options, unsigned node,
                              const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::Twine(nameOf(options, node)) + ": " +
                                     message);
}

static Error verifyConversions(unsigned index, const ConversionTable &table) {
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "conversion table " + llvm::Twine(index) +
                                       ": " + message);
  };
  unsigned n = table.numStates;
  if (n == 0 || n > maxStates)
    return fail(formatv("has {0} states, wanted 1 to {1}", n, maxStates));
  if (table.cost.size() != size_t(n) * n)
    return fail(formatv("has {0} costs for {1} states, wanted {2}",
                        table.cost.size(), n, n * n));
  for (unsigned from = 0; from < n; ++from) {
    for (unsigned to = 0; to < n; ++to) {
      const Cost &cost = table.at(from, to);
      if (cost.picoseconds < 0 || cost.collectives < 0 || cost.bytes < 0)
        return fail(
            formatv("conversion {0} to {1} has a negative cost", from, to));
      if (from == to && cost != Cost{})
        return fail(formatv("keeping state {0} must cost nothing", from));
    }
  }
  return Error::success();
}

namespace {
/// Checks nodes in order; `defined` marks the results of those before.
class NodeVerifier {
public:
  NodeVerifier(const Problem &problem, const Options &options)
      : problem(problem), options(options),
        defined(problem.valueConversion.size(), false) {}

  Error verify(unsigned index);

  const std::vector<bool> &definedValues() const { return defined; }

private:
  Error verifyStates(unsigned index, unsigned choice, const char *kind,
                     llvm::ArrayRef<unsigned> values,
                     llvm::ArrayRef<uint8_t> states) const;

  const Problem &problem;
  const Options &options;
  std::vector<bool> defined;
};
} // namespace

Error NodeVerifier::verifyStates(unsigned index, unsigned choice,
                                 const char *kind,
                                 llvm::ArrayRef<unsigned> values,
                                 llvm::ArrayRef<uint8_t> states) const {
  if (values.size() != states.size())
    return errorAt(options, index,
                   formatv("choice {0} has {1} {2} states, wanted {3}", choice,
                           states.size(), kind, values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    unsigned table = problem.valueConversion[values[i]];
    unsigned numStates = problem.conversions[table].numStates;
    if (states[i] >= numStates)
      return errorAt(options, index,
                     formatv("choice {0} has state {1} for {2} {3}, whose "
                             "value has {4} states",
                             choice, unsigned(states[i]), kind, i, numStates));
  }
  return Error::success();
}

Error NodeVerifier::verify(unsigned index) {
  const Node &node = problem.nodes[index];
  for (unsigned value : node.operands)
    if (value >= defined.size() || !defined[value])
      return errorAt(options, index,
                     formatv("operand value {0} is not the result of an "
                             "earlier node",
                             value));
  for (unsigned value : node.results) {
    if (value >= defined.size() || defined[value])
      return errorAt(options, index,
                     formatv("result value {0} is out of range or has another "
                             "producer",
                             value));
    defined[value] = true;
  }
  if (node.choiceTable >= problem.choices.size())
    return errorAt(options, index,
                   formatv("choice table {0} does not exist; there are {1}",
                           node.choiceTable, problem.choices.size()));
  const auto &choices = problem.choices[node.choiceTable].choices;
  for (unsigned i = 0; i < choices.size(); ++i) {
    if (Error error = verifyStates(index, i, "operand", node.operands,
                                   choices[i].operandStates))
      return error;
    if (Error error = verifyStates(index, i, "result", node.results,
                                   choices[i].resultStates))
      return error;
  }
  return Error::success();
}

Error colrow::solver::verify(const Problem &problem, const Options &options) {
  for (unsigned i = 0; i < problem.conversions.size(); ++i)
    if (Error error = verifyConversions(i, problem.conversions[i]))
      return error;
  for (unsigned value = 0; value < problem.valueConversion.size(); ++value)
    if (problem.valueConversion[value] >= problem.conversions.size())
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          formatv("value {0}: conversion table {1} does not exist; there are "
                  "{2}",
                  value, problem.valueConversion[value],
                  problem.conversions.size()));
  NodeVerifier nodes(problem, options);
  for (unsigned i = 0; i < problem.nodes.size(); ++i)
    if (Error error = nodes.verify(i))
      return error;
  for (unsigned value = 0; value < nodes.definedValues().size(); ++value)
    if (!nodes.definedValues()[value])
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          formatv("value {0}: no node produces it", value));
  return Error::success();
}
