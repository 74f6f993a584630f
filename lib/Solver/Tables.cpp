// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers tables by their content.

#include "Tables.h"

#include <map>

using namespace colrow::solver;

namespace {
/// A table as numbers: equal words mean equal tables.
using Words = std::vector<int64_t>;
} // namespace

static void append(Words &words, const Cost &cost) {
  words.insert(words.end(), {cost.picoseconds, cost.collectives, cost.bytes});
}

static Words wordsOf(const ConversionTable &table) {
  Words words{table.numStates};
  for (const Cost &cost : table.cost)
    append(words, cost);
  return words;
}

static Words wordsOf(const ChoiceTable &table) {
  Words words;
  for (const Choice &choice : table.choices) {
    words.push_back(int64_t(choice.operandStates.size()));
    words.insert(words.end(), choice.operandStates.begin(),
                 choice.operandStates.end());
    words.push_back(int64_t(choice.resultStates.size()));
    words.insert(words.end(), choice.resultStates.begin(),
                 choice.resultStates.end());
    append(words, choice.cost);
  }
  return words;
}

/// Numbers `tables`, calling `isNew` for the first of each content.
template <typename Table, typename Callback>
static std::vector<unsigned> number(const std::vector<Table> &tables,
                                    Callback isNew) {
  std::map<Words, unsigned> known;
  std::vector<unsigned> ids;
  for (const Table &table : tables) {
    auto [it, inserted] = known.try_emplace(wordsOf(table), known.size());
    if (inserted)
      isNew(table);
    ids.push_back(it->second);
  }
  return ids;
}

DistinctTables::DistinctTables(const Problem &problem) {
  choiceIds = number(problem.choices, [&](const ChoiceTable &table) {
    distinct.push_back(&table.choices);
  });
  conversionIds =
      number(problem.conversions,
             [&](const ConversionTable &table) { trees.emplace_back(table); });
}
