// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of one name in a plan, seen as one: tables of different ranks,
// inputs and outputs by name and role.

#ifndef COLROW_RUNTIME_PLAN_PROGRAMS_H
#define COLROW_RUNTIME_PLAN_PROGRAMS_H

#include "colrow/runtime/Plan/Mesh.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace colrow::runtime {

/// The name of the program that a step of training is.
constexpr llvm::StringLiteral trainProgram = "train";

class Programs {
public:
  /// Of a checked plan, which must outlive this. Error: no program has this
  /// name; those that there are are named.
  static llvm::Expected<Programs> find(const plan::Plan &plan,
                                       llvm::StringRef name);

  llvm::StringRef name() const { return title; }
  /// In the plan's order; at least one.
  llvm::ArrayRef<const plan::Program *> tables() const { return list; }
  /// The table of a rank.
  const plan::Program &of(unsigned rank) const { return *list[ofRank[rank]]; }

  /// Inputs by name, each once.
  std::vector<const plan::Input *> inputs() const;
  /// Null when there is none.
  const plan::Input *inputOfRole(llvm::StringRef role) const;

  struct Leaving {
    const plan::Output *output;
    const plan::Program *program;
    unsigned rank; // the first that has the program
  };
  std::vector<Leaving> outputs() const;
  /// `output` null when there is none.
  Leaving outputOfRole(llvm::StringRef role) const;

  /// Rows of the batch: the batch dimension of the input with role "ids", or of
  /// the first that has one; 0: none has.
  int64_t batchRows() const;
  /// Elements of the input with role "ids": tokens of a step; 0: there is none.
  int64_t tokens() const;
  /// Tokens of a row of the batch; 0: there are none.
  int64_t rowTokens() const { return batchRows() ? tokens() / batchRows() : 0; }

private:
  std::string title;
  std::vector<const plan::Program *> list;
  std::vector<unsigned> ofRank;
};

/// The roles of what a program tells of itself, one number each: loss, gradient
/// norm, count of labels. A program has at most one output of each.
inline bool isMeasure(llvm::StringRef role) {
  return role == "loss" || role == "grad_norm" || role == "token_count";
}

/// The buffer that `index` means in a program: the plan's come first.
const plan::Buffer &bufferOf(const plan::Plan &plan,
                             const plan::Program &program, uint32_t index);

/// Product of the sizes; 1 for a scalar.
int64_t elementsOf(llvm::ArrayRef<int64_t> shape);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_PROGRAMS_H
