// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact elimination of the nodes, one after the other. Invariant: for each
// combination of states of the live values, the frontier knows the least cost
// of all nodes before, and the way there.

#include "Frontier.h"
#include "Names.h"
#include "Pruning.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace colrow::solver;

namespace {
/// How the best way to an entry came from the frontier before.
struct Back {
  uint32_t from, choice;
};

/// The eliminated part, seen from the live values.
struct Frontier {
  /// Set of entries, and for each entry the least cost and the place of its
  /// choices so far in lexicographic order among all entries.
  unsigned set;
  std::vector<Cost> cost;
  std::vector<uint32_t> rank;
};

class Elimination {
public:
  Elimination(const Problem &problem, const Options &options)
      : problem(problem), options(options), tables(problem),
        transitions(tables, options.maxTable), pruning(tables) {}

  llvm::Expected<Solution> run();

private:
  void orderNodes();
  Step stepOf(unsigned index);
  void moveLive(const Node &node, const Step &step);
  llvm::Error eliminate(unsigned index);
  void relax(const Transition &transition, std::vector<Cost> &cost,
             std::vector<Back> &back) const;
  std::vector<uint32_t> survivors(const Transition &transition,
                                  const std::vector<Cost> &cost,
                                  const std::vector<Back> &back);
  void keep(llvm::ArrayRef<uint32_t> order, unsigned target,
            const std::vector<Cost> &cost, const std::vector<Back> &back);
  Solution traceBack() const;

  const Problem &problem;
  const Options &options;
  DistinctTables tables;
  Transitions transitions;
  Pruning pruning;
  /// Nodes in order of elimination, and for each the ways to its entries.
  std::vector<unsigned> order;
  std::vector<std::vector<Back>> history;
  /// For each value the last node that consumes it, or none.
  std::vector<std::optional<unsigned>> lastUse;
  /// Live values by position, and the position of each live value.
  std::vector<unsigned> live, position;
  Frontier frontier;
  uint64_t largestTable = 1;
};
} // namespace

char Infeasible::ID = 0;

/// Node order, except that a node without operands waits for the first consumer
/// of one of its results: until then it would only widen the frontier.
void Elimination::orderNodes() {
  lastUse.assign(problem.valueConversion.size(), std::nullopt);
  for (unsigned n = 0; n < problem.nodes.size(); ++n)
    for (unsigned value : problem.nodes[n].operands)
      lastUse[value] = n;
  std::vector<std::optional<unsigned>> waiting(lastUse.size());
  std::vector<bool> done(problem.nodes.size(), false);
  auto visit = [&](unsigned n) {
    if (!done[n])
      order.push_back(n);
    done[n] = true;
  };
  for (unsigned n = 0; n < problem.nodes.size(); ++n) {
    const Node &node = problem.nodes[n];
    auto isUsed = [&](unsigned value) { return lastUse[value].has_value(); };
    if (node.operands.empty() && llvm::any_of(node.results, isUsed)) {
      for (unsigned value : node.results)
        waiting[value] = n;
      continue;
    }
    for (unsigned value : node.operands)
      if (waiting[value])
        visit(*waiting[value]);
    visit(n);
  }
}

Step Elimination::stepOf(unsigned index) {
  const Node &node = problem.nodes[index];
  Step step;
  step.choiceTable = tables.choiceId(node.choiceTable);
  llvm::SmallVector<unsigned, 4> positions;
  for (unsigned value : node.operands)
    positions.push_back(position[value]);
  llvm::SmallVector<unsigned, 4> distinct = positions;
  llvm::sort(distinct);
  distinct.erase(llvm::unique(distinct), distinct.end());
  for (unsigned pos : distinct) {
    unsigned value = live[pos];
    step.values.push_back({pos,
                           tables.conversionId(problem.valueConversion[value]),
                           lastUse[value] == index});
  }
  for (unsigned pos : positions)
    step.operands.push_back(llvm::lower_bound(distinct, pos) -
                            distinct.begin());
  for (unsigned value : node.results)
    step.resultLives.push_back(lastUse[value].has_value());
  return step;
}

/// Updates the live values as targetOf() updates the slots.
void Elimination::moveLive(const Node &node, const Step &step) {
  for (const Step::Operand &value : llvm::reverse(step.values))
    if (value.dies)
      live.erase(live.begin() + value.position);
  for (size_t i = 0; i < node.results.size(); ++i)
    if (step.resultLives[i])
      live.push_back(node.results[i]);
  for (unsigned pos = 0; pos < live.size(); ++pos)
    position[live[pos]] = pos;
}

/// The least cost of each target and the way there; of equal ones the way whose
/// choices are lexicographically first.
void Elimination::relax(const Transition &transition, std::vector<Cost> &cost,
                        std::vector<Back> &back) const {
  uint32_t size = transitions.keys(transition.target).size();
  cost.assign(size, Cost::infinite());
  back.assign(size, Back{0, 0});
  for (const Transition::Edge &edge : transition.edges) {
    Cost candidate = frontier.cost[edge.from] + edge.cost;
    Cost &best = cost[edge.to];
    if (best < candidate || candidate.isInfinite())
      continue;
    const Back &old = back[edge.to];
    // Edges come by entry, and one entry has one edge to a target: on equal
    // costs the entry's rank alone decides.
    if (candidate < best || frontier.rank[edge.from] < frontier.rank[old.from])
      back[edge.to] = {edge.from, edge.choice};
    best = candidate;
  }
}

/// The targets that are worth keeping, in lexicographic order of their choices.
std::vector<uint32_t> Elimination::survivors(const Transition &transition,
                                             const std::vector<Cost> &cost,
                                             const std::vector<Back> &back) {
  llvm::SmallVector<unsigned> conversions;
  for (unsigned value : live)
    conversions.push_back(tables.conversionId(problem.valueConversion[value]));
  std::vector<bool> dropped =
      pruning.superfluous(transitions.keys(transition.target),
                          transition.rivals, conversions, cost);
  std::vector<uint32_t> order;
  for (uint32_t entry = 0; entry < cost.size(); ++entry)
    if (!dropped[entry] && !cost[entry].isInfinite())
      order.push_back(entry);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::pair(frontier.rank[back[a].from], back[a].choice) <
           std::pair(frontier.rank[back[b].from], back[b].choice);
  });
  return order;
}

/// Makes the targets in `order` the frontier. Their set keeps the order of the
/// target set, so that equal survivors are an equal set.
void Elimination::keep(llvm::ArrayRef<uint32_t> order, unsigned target,
                       const std::vector<Cost> &cost,
                       const std::vector<Back> &back) {
  constexpr uint32_t none = -1;
  std::vector<uint32_t> rankOf(cost.size(), none);
  for (uint32_t rank = 0; rank < order.size(); ++rank)
    rankOf[order[rank]] = rank;
  KeySet kept(transitions.keys(target).width);
  frontier = Frontier{target, {}, {}};
  std::vector<Back> &ways = history.emplace_back();
  for (uint32_t entry = 0; entry < cost.size(); ++entry) {
    if (rankOf[entry] == none)
      continue;
    if (order.size() != cost.size())
      kept.insert(transitions.keys(target)[entry]);
    frontier.cost.push_back(cost[entry]);
    frontier.rank.push_back(rankOf[entry]);
    ways.push_back(back[entry]);
  }
  if (order.size() != cost.size())
    frontier.set = transitions.intern(std::move(kept));
}

llvm::Error Elimination::eliminate(unsigned index) {
  Step step = stepOf(index);
  const Transition *transition = transitions.get(frontier.set, step);
  if (!transition)
    return errorAt(
        options, index,
        llvm::formatv("the table of best costs has more than {0} entries over "
                      "{1} live values; pin layouts, or use values nearer to "
                      "where they are made",
                      options.maxTable, live.size()));
  std::vector<Cost> cost;
  std::vector<Back> back;
  relax(*transition, cost, back);
  moveLive(problem.nodes[index], step);
  std::vector<uint32_t> order = survivors(*transition, cost, back);
  if (order.empty())
    return llvm::make_error<Infeasible>(
        index,
        llvm::formatv("{0}: none of its {1} choices is feasible: its operands "
                      "cannot be had in the states that they want; lift a pin "
                      "or allow another layout",
                      nameOf(options, index),
                      tables.choices(step.choiceTable).size()));
  largestTable = std::max<uint64_t>(largestTable, cost.size());
  keep(order, transition->target, cost, back);
  return llvm::Error::success();
}

/// Reads the choices back from the only entry that is left. Each consumer comes
/// before its producers.
Solution Elimination::traceBack() const {
  Solution solution;
  solution.choice.assign(problem.nodes.size(), 0);
  solution.state.assign(problem.valueConversion.size(), 0);
  solution.wanted.assign(problem.valueConversion.size(), 0);
  solution.total = frontier.cost.front();
  uint32_t entry = 0;
  for (size_t i = order.size(); i-- > 0;) {
    Back back = history[i][entry];
    const Node &node = problem.nodes[order[i]];
    const Choice &choice =
        problem.choices[node.choiceTable].choices[back.choice];
    solution.choice[order[i]] = back.choice;
    for (size_t r = 0; r < node.results.size(); ++r)
      solution.state[node.results[r]] = choice.resultStates[r];
    for (size_t o = 0; o < node.operands.size(); ++o)
      solution.wanted[node.operands[o]] |= 1u << choice.operandStates[o];
    entry = back.from;
  }
  solution.transitionsComputed = transitions.computed();
  solution.largestTable = largestTable;
  return solution;
}

llvm::Expected<Solution> Elimination::run() {
  orderNodes();
  position.assign(problem.valueConversion.size(), 0);
  frontier = {transitions.emptyFrontier(), {Cost{}}, {0}};
  for (unsigned index : order)
    if (llvm::Error error = eliminate(index))
      return error;
  return traceBack();
}

llvm::Expected<Solution> colrow::solver::solve(const Problem &problem,
                                               const Options &options) {
  if (llvm::Error error = verify(problem, options))
    return error;
  return Elimination(problem, options).run();
}
