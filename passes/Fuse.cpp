// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-fuse: memory-bound ops over one space become one kernel where values pass
// between them element by element.
//
// Invariant: groups are numbered in program order, and an op joins a group only
// if all its operands exist at the place of the group's last member, so moving
// it there keeps the order of definitions.

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/passes/Passes.h"

namespace colrow::passes {
#define GEN_PASS_DEF_FUSE
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using tp::Access;

namespace {
/// How an op touches its operands and results, found by lowering it alone.
struct Touch {
  SmallVector<int64_t> space;
  SmallVector<std::pair<Value, Access>> reads, writes;
};

Touch inspect(tp::RowLowerableOpInterface op) {
  Touch touch;
  touch.space = op.getSpace();
  auto escapes = [](Value) { return true; };
  tp::RowLowering rows(touch.space, escapes);
  op.lowerToRows(rows);
  for (const tp::RowLowering::Use &use : rows.getUses())
    (use.written ? touch.writes : touch.reads)
        .push_back({use.value, use.access});
  return touch;
}

/// Makes the groups of one phase.
class Fuser {
public:
  explicit Fuser(Block &phase) : phase(phase) {}

  /// Numbers the groups from `number` on; returns the next number.
  int64_t run(int64_t number) {
    SmallVector<Operation *> ops;
    for (Operation &op : phase.without_terminator())
      ops.push_back(&op);
    // Symbols are read as of the start of the step and set at its end, wherever
    // that stands: reads come first, where they keep no op from joining a
    // group, and updates last, behind all that reads the old value.
    auto rank = [](Operation *op) {
      return isa<tp::ParamOp>(op) ? 0 : isa<tp::UpdateOp>(op) ? 2 : 1;
    };
    llvm::sort(ops, [&](Operation *a, Operation *b) {
      return rank(a) != rank(b) ? rank(a) < rank(b) : a->isBeforeInBlock(b);
    });
    for (Operation *op : ops) {
      place(op);
      placed.insert(op);
    }
    Builder builder(phase.getParent()->getContext());
    Operation *end = phase.getTerminator();
    for (auto &[members, isKernel, space] : places) {
      for (Operation *op : members) {
        op->moveBefore(end);
        if (isKernel)
          op->setAttr(tp::getKernelAttrName(),
                      builder.getI64IntegerAttr(number));
      }
      number += isKernel;
      fused += isKernel && members.size() > 1 ? members.size() : 0;
    }
    return number;
  }

  /// Ops in a kernel with others.
  unsigned getFused() const { return fused; }

private:
  struct Place {
    SmallVector<Operation *> members;
    bool isKernel;
    SmallVector<int64_t> space;
  };

  void place(Operation *op) {
    auto rows = dyn_cast<tp::RowLowerableOpInterface>(op);
    std::optional<Touch> touch;
    if (rows) {
      touch = inspect(rows);
      if (std::optional<unsigned> group = findGroup(op, *touch)) {
        absorbProducers(op, *touch, *group);
        places[*group].members.push_back(op);
        note(op, *touch, *group);
        return;
      }
    }
    places.push_back(
        {{op}, rows != nullptr, touch ? touch->space : SmallVector<int64_t>()});
    if (touch) {
      absorbProducers(op, *touch, places.size() - 1, /*onlyCasts=*/true);
      note(op, *touch, places.size() - 1);
      return;
    }
    for (Value result : op->getResults())
      madeAt[result] = {places.size() - 1, Access::Other};
  }

  void note(Operation *op, const Touch &touch, unsigned group) {
    for (Value result : op->getResults())
      madeAt[result] = {group, Access::Other};
    for (auto [value, access] : touch.writes)
      madeAt[value] = {group, access};
  }

  /// The latest group that makes an operand of `op` and that it can join.
  std::optional<unsigned> findGroup(Operation *op, const Touch &touch) {
    int latest = -1;
    for (Value operand : op->getOperands())
      if (auto it = madeAt.find(operand); it != madeAt.end())
        latest = std::max(latest, int(it->second.first));
    if (latest < 0 || !places[latest].isKernel ||
        places[latest].space != touch.space ||
        places[latest].members.size() >= maxMembers)
      return std::nullopt;
    for (auto [value, access] : touch.reads) {
      auto it = value ? madeAt.find(value) : madeAt.end();
      if (it == madeAt.end() || int(it->second.first) != latest)
        continue;
      // Sums are ready only when the kernel ends; gathers need memory.
      bool elementwise = access == Access::Full || access == Access::Row ||
                         access == Access::Scalar;
      if (!elementwise || it->second.second != access)
        return std::nullopt;
    }
    return latest;
  }

  /// Moves other groups that make operands of `op` down into `group`, if
  /// nothing placed so far reads what they make; or those only that cast, which
  /// alone would read and write for nothing.
  void absorbProducers(Operation *op, const Touch &touch, unsigned group,
                       bool onlyCasts = false) {
    for (auto [value, access] : touch.reads) {
      auto it = value ? madeAt.find(value) : madeAt.end();
      if (it == madeAt.end() || it->second.first == group)
        continue;
      unsigned other = it->second.first;
      Place &from = places[other];
      if (onlyCasts && !llvm::all_of(from.members, llvm::IsaPred<tp::CastOp>))
        continue;
      if (!from.isKernel || from.space != touch.space ||
          it->second.second != access || access == Access::Trailing ||
          access == Access::Other ||
          from.members.size() + places[group].members.size() >= maxMembers ||
          isRead(from))
        continue;
      llvm::append_range(from.members, places[group].members);
      places[group].members = std::move(from.members);
      from.members.clear();
      from.isKernel = false;
      for (Operation *member : places[group].members)
        for (Value result : member->getResults())
          madeAt[result].first = group;
    }
  }

  /// True if an op outside `place` that is placed already reads its results.
  bool isRead(const Place &place) {
    for (Operation *member : place.members)
      for (Operation *user : member->getUsers())
        if (placed.contains(user) && !llvm::is_contained(place.members, user))
          return true;
    return false;
  }

  static constexpr unsigned maxMembers = 12;
  Block &phase;
  unsigned fused = 0;
  std::vector<Place> places;
  llvm::DenseSet<Operation *> placed;
  llvm::DenseMap<Value, std::pair<unsigned, Access>> madeAt;
};

struct FusePass : passes::impl::FuseBase<FusePass> {
  void runOnOperation() override {
    auto functions = getStepFunctions(getOperation());
    if (failed(functions))
      return signalPassFailure();
    unsigned made = 0, inKernels = 0;
    for (func::FuncOp step : functions->all)
      fuse(step, made, inKernels);
    kernels = made;
    fused = inKernels;
  }

  static void fuse(func::FuncOp step, unsigned &made, unsigned &inKernels) {
    // A phase by itself: what the backward computes does not move into a
    // kernel of the forward.
    int64_t number = 0;
    for (Block &phase : step.getBody()) {
      Fuser fuser(phase);
      number = fuser.run(number);
      inKernels += fuser.getFused();
    }
    made += number;
  }
};
} // namespace
