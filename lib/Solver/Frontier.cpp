// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of frontier entries and the transitions between them.

#include "Frontier.h"

#include "llvm/ADT/Hashing.h"

#include <algorithm>

using namespace colrow::solver;

//===-- Sets of entries ---------------------------------------------------===//

static size_t hashOf(llvm::ArrayRef<Slot> key) {
  return llvm::hash_combine_range(key.begin(), key.end());
}

size_t KeySet::bucketOf(llvm::ArrayRef<Slot> key) const {
  size_t mask = buckets.size() - 1;
  size_t bucket = hashOf(key) & mask;
  while (buckets[bucket] != 0 && (*this)[buckets[bucket] - 1] != key)
    bucket = (bucket + 1) & mask;
  return bucket;
}

void KeySet::grow() {
  buckets.assign(std::max<size_t>(16, buckets.size() * 2), 0);
  for (uint32_t entry = 0; entry < count; ++entry)
    buckets[bucketOf((*this)[entry])] = entry + 1;
}

uint32_t KeySet::insert(llvm::ArrayRef<Slot> key) {
  if (size_t(count + 1) * 2 > buckets.size())
    grow();
  size_t bucket = bucketOf(key);
  if (buckets[bucket] == 0) {
    slots.insert(slots.end(), key.begin(), key.end());
    buckets[bucket] = ++count;
  }
  return buckets[bucket] - 1;
}

std::optional<uint32_t> KeySet::find(llvm::ArrayRef<Slot> key) const {
  if (buckets.empty())
    return std::nullopt;
  size_t bucket = bucketOf(key);
  if (buckets[bucket] == 0)
    return std::nullopt;
  return buckets[bucket] - 1;
}

size_t KeySet::hash() const {
  return llvm::hash_combine(width, count, hashOf(slots));
}

//===-- One transition ----------------------------------------------------===//

namespace {
/// Follows every choice of a step from every entry of a set.
class TransitionBuilder {
public:
  TransitionBuilder(const KeySet &from, const Step &step,
                    const DistinctTables &tables)
      : from(from), step(step), tables(tables), targets(targetWidth()) {}

  /// False if there are more than `maxTable` targets.
  bool build(uint64_t maxTable);
  void findRivals();

  KeySet &&takeTargets() { return std::move(targets); }
  Transition &&takeTransition() { return std::move(transition); }

private:
  using Key = llvm::SmallVector<Slot, 16>;

  unsigned targetWidth() const;
  Cost follow(const Choice &choice, llvm::MutableArrayRef<Slot> live) const;
  Key targetOf(const Choice &choice, llvm::ArrayRef<Slot> live) const;
  void addEdge(uint32_t entry, uint32_t choice, uint32_t target, Cost cost);

  const KeySet &from;
  const Step &step;
  const DistinctTables &tables;
  KeySet targets;
  Transition transition;
  /// For each target the edge that was last added to it.
  std::vector<size_t> lastEdgeTo;
};
} // namespace

unsigned TransitionBuilder::targetWidth() const {
  auto dies = [](const Step::Operand &value) { return value.dies; };
  return from.width - llvm::count_if(step.values, dies) +
         llvm::count(step.resultLives, true);
}

/// Adds what `choice` wants to the slots `live` of the operands, and what comes
/// with it for nothing, so that entries with equal futures are one. Returns
/// what it costs: infinite if a value cannot be had in its wanted states.
Cost TransitionBuilder::follow(const Choice &choice,
                               llvm::MutableArrayRef<Slot> live) const {
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const Step::Operand &value = step.values[step.operands[i]];
    Slot &slot = live[value.position];
    unsigned produced = producedOf(slot);
    StateSet wanted(wantedOf(slot) | 1u << choice.operandStates[i]);
    slot =
        makeSlot(produced,
                 tables.conversions(value.conversion).closed(produced, wanted));
  }
  Cost cost = choice.cost;
  for (const Step::Operand &value : step.values) {
    Slot slot = live[value.position];
    const Cost &tree = tables.conversions(value.conversion)
                           .cost(producedOf(slot), StateSet(wantedOf(slot)));
    if (tree.isInfinite())
      return tree;
    if (value.dies)
      cost += tree;
  }
  return cost;
}

/// The entry after the node: values that die leave, results enter at the end.
TransitionBuilder::Key
TransitionBuilder::targetOf(const Choice &choice,
                            llvm::ArrayRef<Slot> live) const {
  Key key;
  const Step::Operand *next = step.values.begin();
  for (unsigned position = 0; position < live.size(); ++position) {
    bool isOperand = next != step.values.end() && next->position == position;
    if (!isOperand || !next->dies)
      key.push_back(live[position]);
    if (isOperand)
      ++next;
  }
  for (size_t i = 0; i < step.resultLives.size(); ++i)
    if (step.resultLives[i])
      key.push_back(makeSlot(choice.resultStates[i], 0));
  return key;
}

void TransitionBuilder::addEdge(uint32_t entry, uint32_t choice,
                                uint32_t target, Cost cost) {
  auto &edges = transition.edges;
  if (target >= lastEdgeTo.size())
    lastEdgeTo.resize(target + 1, size_t(-1));
  size_t &last = lastEdgeTo[target];
  if (last == size_t(-1) || edges[last].from != entry) {
    last = edges.size();
    edges.push_back({entry, choice, target, cost});
  } else if (cost < edges[last].cost) {
    edges[last].choice = choice;
    edges[last].cost = cost;
  }
}

bool TransitionBuilder::build(uint64_t maxTable) {
  llvm::ArrayRef<Choice> choices = tables.choices(step.choiceTable);
  Key live;
  for (uint32_t entry = 0; entry < from.size(); ++entry) {
    for (uint32_t choice = 0; choice < choices.size(); ++choice) {
      live.assign(from[entry].begin(), from[entry].end());
      Cost cost = follow(choices[choice], live);
      if (cost.isInfinite())
        continue;
      uint32_t target = targets.insert(targetOf(choices[choice], live));
      if (targets.size() > maxTable)
        return false;
      addEdge(entry, choice, target, cost);
    }
  }
  return true;
}

/// Groups the entries that are equal but for one position.
void TransitionBuilder::findRivals() {
  Key key;
  for (unsigned position = 0; position < targets.width; ++position) {
    KeySet groups(targets.width);
    for (uint32_t entry = 0; entry < targets.size(); ++entry) {
      key.assign(targets[entry].begin(), targets[entry].end());
      key[position] = 0;
      transition.rivals.push_back(groups.insert(key));
    }
  }
}

//===-- All transitions ---------------------------------------------------===//

Transitions::Transitions(const DistinctTables &tables, uint64_t maxTable)
    : tables(tables), maxTable(std::min<uint64_t>(maxTable, 1u << 31)) {}

KeySet Transitions::keysOfNothing() {
  KeySet keys(0);
  keys.insert({});
  return keys;
}

unsigned Transitions::intern(KeySet keys) {
  size_t hash = keys.hash();
  auto [begin, end] = setsByHash.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (sets[it->second] == keys)
      return it->second;
  setsByHash.emplace(hash, sets.size());
  sets.push_back(std::move(keys));
  return sets.size() - 1;
}

/// All that a transition depends on, as numbers.
static std::vector<unsigned> signatureOf(unsigned from, const Step &step) {
  std::vector<unsigned> words{from, step.choiceTable,
                              unsigned(step.values.size())};
  for (const Step::Operand &value : step.values)
    words.insert(words.end(), {value.position, value.conversion, value.dies});
  words.push_back(step.operands.size());
  words.insert(words.end(), step.operands.begin(), step.operands.end());
  words.insert(words.end(), step.resultLives.begin(), step.resultLives.end());
  return words;
}

const Transition *Transitions::get(unsigned from, const Step &step) {
  std::vector<unsigned> signature = signatureOf(from, step);
  auto it = known.find(signature);
  if (it != known.end())
    return &it->second;
  TransitionBuilder builder(sets[from], step, tables);
  if (!builder.build(maxTable))
    return nullptr;
  builder.findRivals();
  ++numComputed;
  Transition transition = builder.takeTransition();
  transition.target = intern(builder.takeTargets());
  return &known.emplace(std::move(signature), std::move(transition))
              .first->second;
}
