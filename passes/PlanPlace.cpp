// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-place: memory that may be one becomes one, and everything gets its
// place.
//
// Invariant: the uses of a buffer are in the order of its instructions, and
// whatever moves a use to another buffer moves it in IR and in the table alike.

#include "colrow/Plan/Arena.h"
#include "colrow/Plan/StreamOrder.h"
#include "colrow/dialects/Plan/Plan.h"
#include "colrow/dialects/TP/PlanLowering.h"
#include "colrow/passes/Passes.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "colrow/runtime/Plan/PlanLimits.h"

namespace colrow::passes {
#define GEN_PASS_DEF_PLANPLACE
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using namespace colrow::planir;

namespace {

/// An instruction's access of a buffer.
struct Use {
  unsigned item = 0; ///< number of the instruction
  unsigned operand = 0;
  bool writes = false;
};

/// The instructions of a program, numbered, and the uses of each buffer.
class Program {
public:
  Program(ProgramOp program, SymbolTable &symbols)
      : op(program), symbols(symbols), order(number(program)) {
    SmallVector<BufferAccess> accesses;
    for (auto [i, item] : llvm::enumerate(items)) {
      accesses.clear();
      item.getAccesses(symbols, accesses);
      for (const BufferAccess &access : accesses)
        uses[item->getOperand(access.operand)].push_back(
            {unsigned(i), access.operand, access.access != Access::read});
    }
    program.walk([&](OutputOp output) { isOutput.insert(output.getSource()); });
  }

  void coalesce();
  void placeInputs();
  /// Fails where a rank needs more than can be addressed.
  LogicalResult placeScratch();
  unsigned numCoalesced = 0;

private:
  /// Fills items, spans and phases.
  std::vector<StreamItem> number(ProgramOp program);

  bool mayReplace(CopyOp copy, unsigned at);
  void replaceByTarget(CopyOp copy);
  bool mayShare(PlanInstructionOpInterface item, unsigned at, unsigned read,
                unsigned written);
  void coalesceInPlace(unsigned at);
  /// `from` becomes `to`, with all its uses.
  void merge(Value from, Value to);

  std::optional<uint64_t> bytesOf(Value buffer);
  /// Whether the item is in no loop, and its operand is a buffer from its
  /// start.
  bool isWhole(unsigned item, unsigned operand) {
    return !items[item]->getParentOfType<LoopOp>() &&
           items[item].getAddressStorage()[operand].isZero();
  }
  Life lifeOf(BufferOp buffer);
  LogicalResult reportTooLarge(uint64_t bytes, ArrayRef<BufferOp> buffers);
  /// What the first phase leaves for later ones, and the second for the third.
  void reportMemory(ArrayRef<Life> lives);

  ProgramOp op;
  SymbolTable &symbols;
  std::vector<PlanInstructionOpInterface> items;
  /// The outermost loop around an item, as numbers of its first and last item.
  std::vector<std::pair<unsigned, unsigned>> spans;
  std::vector<unsigned> firstOfPhase;
  StreamOrder order;
  llvm::DenseMap<Value, SmallVector<Use, 4>> uses;
  llvm::DenseSet<Value> isOutput;
};
} // namespace

std::vector<StreamItem> Program::number(ProgramOp program) {
  std::vector<StreamItem> list;
  for (Block &phase : program.getBody()) {
    firstOfPhase.push_back(list.size());
    for (Operation &top : phase) {
      unsigned first = list.size();
      top.walk([&](PlanInstructionOpInterface item) {
        StreamItem &entry = list.emplace_back();
        entry.stream = item.getStream();
        if (auto record = dyn_cast<RecordOp>(item.getOperation())) {
          entry.kind = StreamItem::Record;
          entry.event = record.getEvent();
        } else if (auto wait = dyn_cast<WaitOp>(item.getOperation())) {
          entry.kind = StreamItem::Wait;
          entry.event = wait.getEvent();
        }
        items.push_back(item);
      });
      for (unsigned i = first; i < list.size(); ++i)
        spans.push_back({first, unsigned(list.size()) - 1});
    }
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Memory that may be one
//===----------------------------------------------------------------------===//

std::optional<uint64_t> Program::bytesOf(Value buffer) {
  Operation *maker = buffer.getDefiningOp();
  if (auto scratch = dyn_cast_or_null<BufferOp>(maker))
    return scratch.getBytes();
  auto global = dyn_cast_or_null<GlobalOp>(maker);
  Operation *symbol = global ? symbols.lookup(global.getSymbol()) : nullptr;
  if (auto parameter = dyn_cast_or_null<tp::ParameterOp>(symbol))
    return tp::tensorBytes(parameter.getType());
  if (auto state = dyn_cast_or_null<tp::StateOp>(symbol))
    return tp::tensorBytes(state.getType());
  return std::nullopt;
}

void Program::merge(Value from, Value to) {
  auto moved = std::move(uses[from]);
  uses.erase(from);
  auto &list = uses[to];
  llvm::append_range(list, moved);
  llvm::sort(list, [](const Use &a, const Use &b) {
    return std::pair(a.item, a.operand) < std::pair(b.item, b.operand);
  });
  if (isOutput.erase(from))
    isOutput.insert(to);
  from.replaceAllUsesWith(to);
  from.getDefiningOp()->erase();
  ++numCoalesced;
}

/// Whether an instruction that reads the target at `read` can already write the
/// new contents there.
static bool readsInPlace(PlanInstructionOpInterface item, unsigned read,
                         Value written, SymbolTable &symbols) {
  for (OpOperand &operand : item->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    if (operand.get() == written && (!item.getAddressStorage()[i].isZero() ||
                                     !item.mayBeInPlace(read, i, symbols)))
      return false;
  }
  return true;
}

/// Whether what makes the source of the copy, item `at`, may write to the
/// target from the beginning: from the first use of the source on, nothing else
/// touches the target before the copy, and behind the copy both stay the same.
bool Program::mayReplace(CopyOp copy, unsigned at) {
  Value source = copy.getSource(), target = copy.getTarget();
  uint64_t bytes = copy.getBytes();
  if (!source.getDefiningOp<BufferOp>() || source == target ||
      source.getType() != target.getType() || !isWhole(at, 0) ||
      !isWhole(at, 1) || bytesOf(source) != bytes || bytesOf(target) != bytes)
    return false;
  const auto &made = uses[source];
  unsigned first = spans[made.front().item].first;
  bool readLater = isOutput.contains(source), changedLater = false;
  for (const Use &use : made) {
    if (use.item == at || order.isBefore(use.item, at))
      continue;
    if (use.writes || !order.isBefore(at, use.item))
      return false;
    readLater = true;
  }
  for (const Use &use : uses[target]) {
    if (use.item == at)
      continue;
    if (order.isBefore(at, use.item)) {
      changedLater |= use.writes;
      continue;
    }
    if (order.isBefore(use.item, first))
      continue;
    bool inPlace = use.item == first && isWhole(first, use.operand) &&
                   !use.writes &&
                   readsInPlace(items[first], use.operand, source, symbols);
    if (!inPlace)
      return false;
  }
  // Every access of the source is where the copy would put its contents.
  return !(readLater && changedLater);
}

void Program::replaceByTarget(CopyOp copy) {
  Value source = copy.getSource(), target = copy.getTarget();
  unsigned at = 0;
  for (const Use &use : uses[source])
    if (items[use.item] == copy)
      at = use.item;
  auto isCopy = [&](const Use &use) { return use.item == at; };
  llvm::erase_if(uses[source], isCopy);
  llvm::erase_if(uses[target], isCopy);
  items[at] = nullptr;
  copy.erase();
  merge(source, target);
}

/// Whether the buffer that item `at` writes can be the one that it reads: the
/// life of one ends where that of the other begins.
bool Program::mayShare(PlanInstructionOpInterface item, unsigned at,
                       unsigned read, unsigned written) {
  Value from = item->getOperand(written), to = item->getOperand(read);
  if (from == to || from.getType() != to.getType() ||
      !from.getDefiningOp<BufferOp>() || !to.getDefiningOp<BufferOp>() ||
      bytesOf(from) != bytesOf(to) || !isWhole(at, read) ||
      !isWhole(at, written) || isOutput.contains(to))
    return false;
  return llvm::all_of(uses[to],
                      [&](const Use &use) {
                        return use.item == at ||
                               order.isBefore(spans[use.item].second, at);
                      }) &&
         llvm::all_of(uses[from], [&](const Use &use) {
           return use.item == at || order.isBefore(at, spans[use.item].first);
         });
}

void Program::coalesceInPlace(unsigned at) {
  PlanInstructionOpInterface item = items[at];
  auto pair = item.getPreferredInPlace();
  if (pair && mayShare(item, at, pair->first, pair->second))
    merge(item->getOperand(pair->second), item->getOperand(pair->first));
}

void Program::coalesce() {
  for (unsigned at = 0; at < items.size(); ++at)
    coalesceInPlace(at);
  for (unsigned at = 0; at < items.size(); ++at)
    if (auto copy = dyn_cast_or_null<CopyOp>(items[at].getOperation()))
      if (mayReplace(copy, at))
        replaceByTarget(copy);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void Program::placeInputs() {
  uint64_t end = 0;
  op.walk([&](InputOp input) {
    input.setOffset(end);
    end += llvm::alignTo(input.getBytes(), runtime::bufferAlignment);
  });
  op.setInputBytes(end);
}

/// From its first use to the last moment at which another instruction may run
/// without waiting for its last use.
Life Program::lifeOf(BufferOp buffer) {
  Life life;
  life.bytes = buffer.getBytes();
  life.begin = items.size();
  for (const Use &use : uses[buffer.getResult()]) {
    auto [begin, end] = spans[use.item];
    life.begin = std::min(life.begin, begin);
    life.end = std::max({life.end, end, order.lastUnordered(use.item)});
  }
  if (isOutput.contains(buffer.getResult()))
    life.end = items.size();
  life.end = std::max(life.begin, life.end);
  return life;
}

LogicalResult Program::placeScratch() {
  std::vector<BufferOp> buffers;
  std::vector<Life> lives;
  op.walk([&](BufferOp buffer) {
    buffers.push_back(buffer);
    lives.push_back(lifeOf(buffer));
  });
  uint64_t arenaBytes = 0;
  auto offsets = placeLives(lives, runtime::bufferAlignment, arenaBytes);
  for (auto [buffer, offset] : llvm::zip_equal(buffers, offsets))
    buffer.setOffset(offset);
  op.setScratchBytes(arenaBytes);
  if (arenaBytes > runtime::maxRegionBytes)
    return reportTooLarge(arenaBytes, buffers);
  reportMemory(lives);
  return success();
}

/// Names the buffer to blame.
LogicalResult Program::reportTooLarge(uint64_t bytes,
                                      ArrayRef<BufferOp> buffers) {
  BufferOp largest = *llvm::max_element(buffers, [](BufferOp a, BufferOp b) {
    return a.getBytes() < b.getBytes();
  });
  InFlightDiagnostic error = op.emitOpError("needs ");
  error << bytes << " bytes a rank for activations and temporaries, at most "
        << runtime::maxRegionBytes
        << " can be addressed; the largest buffer, of " << largest.getBytes()
        << " bytes, ";
  if (auto name = largest.getName())
    error << "is '" << *name << "', ";
  unsigned first = uses[largest.getResult()].front().item;
  if (StringAttr name = items[first].getNameAttr())
    error << "made by " << name.getValue();
  return error << ": take a smaller batch or sequence, or more ranks";
}

void Program::reportMemory(ArrayRef<Life> lives) {
  unsigned end = items.size();
  auto start = [&](unsigned phase) {
    return phase < firstOfPhase.size() ? firstOfPhase[phase] : end;
  };
  uint64_t saved = 0, gradients = 0;
  for (const Life &life : lives) {
    if (life.begin < start(1) && life.end >= start(1) && life.end < end)
      saved += life.bytes;
    if (life.begin >= start(1) && life.begin < start(2) &&
        life.end >= start(2) && start(2) < end)
      gradients += life.bytes;
  }
  op.setSavedBytes(saved);
  op.setGradientBytes(gradients);
}

namespace {
struct PlanPlacePass : passes::impl::PlanPlaceBase<PlanPlacePass> {
  void runOnOperation() override {
    placeSymbols();
    SymbolTable symbols(getOperation());
    unsigned number = 0;
    for (auto op : getOperation().getOps<ProgramOp>()) {
      Program program(op, symbols);
      program.coalesce();
      program.placeInputs();
      if (failed(program.placeScratch()))
        return signalPassFailure();
      number += program.numCoalesced;
    }
    coalesced = number;
  }

  /// Parameters, then state; constants in a region of their own.
  void placeSymbols() {
    uint64_t end = 0;
    Builder builder(&getContext());
    auto place = [&](Operation *op, Type type) {
      op->setAttr(getOffsetAttrName(), builder.getI64IntegerAttr(end));
      end += llvm::alignTo(tp::tensorBytes(type), runtime::bufferAlignment);
    };
    for (auto parameter : getOperation().getOps<tp::ParameterOp>())
      place(parameter, parameter.getType());
    for (auto state : getOperation().getOps<tp::StateOp>())
      place(state, state.getType());
    end = 0;
    for (auto constant : getOperation().getOps<ConstantOp>()) {
      constant.setOffset(end);
      end += llvm::alignTo(tp::tensorBytes(constant.getTensorType()),
                           runtime::bufferAlignment);
    }
  }
};
} // namespace
