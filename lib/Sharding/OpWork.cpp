// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work of one op in one way: the op and its gradient are built on scratch with
// the types of that way, and each op that is then there says what it does.

#include "BlockWork.h"
#include "colrow/Sharding/Scratch.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;

static NamedItem named(Operation *op, const cost::WorkItem &item) {
  return {op->getName().getStringRef(), item};
}

/// Builds the gradient of `copy`, and returns its ops: those that make what is
/// wanted.
static SmallVector<Operation *> buildBackward(Operation *copy, Scratch &scratch,
                                              const OpUse &use) {
  auto differentiable = dyn_cast<tp::DifferentiableOpInterface>(copy);
  if (!differentiable || !llvm::is_contained(use.incoming, true) ||
      !llvm::is_contained(use.wanted, true))
    return {};
  SmallVector<Value> incoming;
  for (auto [type, has] : llvm::zip(use.results, use.incoming))
    incoming.push_back(
        has ? scratch.block.addArgument(tp::dualType(type), copy->getLoc())
            : Value());
  SmallVector<Value> outgoing =
      differentiable.buildGradients(scratch.builder, incoming, use.wanted);
  llvm::DenseSet<Value> needed;
  for (auto [value, isWanted] : llvm::zip(outgoing, use.wanted))
    if (value && isWanted)
      needed.insert(value);
  SmallVector<Operation *> ops;
  for (Operation *op = &scratch.block.back(); op != copy;
       op = op->getPrevNode())
    if (llvm::any_of(op->getResults(),
                     [&](Value v) { return needed.contains(v); })) {
      needed.insert(op->operand_begin(), op->operand_end());
      ops.push_back(op);
    }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// Makes parameters of those operands of `copy` that are parameters' values.
static void addParameters(Operation *copy, const OpUse &use) {
  OpBuilder builder(copy);
  for (auto [operand, read] : llvm::zip(copy->getOpOperands(), use.parameters))
    if (tp::ParamOp param = read)
      operand.set(tp::ParamOp::create(builder, copy->getLoc(),
                                      operand.get().getType(), "parameter",
                                      param.getRoundShares()));
}

void WorkTable::addSimple(Operation *copy, Scratch &scratch, const OpUse &use,
                          OpWork &work) {
  if (auto item = tp::workOf(copy, mesh))
    work.items.push_back(named(copy, *item));
  auto note = [](SmallVectorImpl<unsigned> &list, unsigned i) {
    if (!llvm::is_contained(list, i))
      list.push_back(i);
  };
  addParameters(copy, use);
  for (Operation *op : buildBackward(copy, scratch, use)) {
    if (auto item = tp::workOf(op, mesh))
      work.items.push_back(named(op, *item));
    for (Value read : op->getOperands()) {
      if (auto operand = llvm::find(copy->getOperands(), read);
          operand != copy->operand_end())
        note(work.savedOperands, operand.getIndex());
      else if (read.getDefiningOp() == copy)
        note(work.savedResults, cast<OpResult>(read).getResultNumber());
    }
  }
}

/// A composite op is its parts and the changes between them.
void WorkTable::addParts(Operation *copy, Scratch &scratch, const OpUse &use,
                         OpWork &work) {
  SmallVector<Value> arguments(copy->getOperands());
  SmallVector<Value> results =
      cast<tp::DecomposableOpInterface>(copy).decompose(scratch.builder);
  copy->erase();
  auto chosen = [](ArrayRef<Value> values, ArrayRef<bool> flags) {
    SmallVector<Value> list;
    for (auto [value, flag] : llvm::zip(values, flags))
      if (flag)
        list.push_back(value);
    return list;
  };
  Gradients gradients(scratch.block, chosen(arguments, use.wanted),
                      chosen(results, use.incoming));
  BlockWork parts(*this, gradients);
  // Parts made from an op with a way have ways, and their values can be had:
  // the op's own tests say so.
  for (Operation &op : scratch.block)
    if (failed(parts.add(&op)))
      return;
  auto isInside = [&](Value value) {
    return value.getDefiningOp() && !llvm::is_contained(results, value);
  };
  if (failed(parts.addChanges(isInside)))
    return;
  llvm::append_range(work.items, parts.items);
  work.savedInside += parts.insideBytes;
  for (auto &[value, forms] : parts.saved) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      work.savedOperands.push_back(argument.getArgNumber());
    else if (isInside(value))
      for (auto &[state, bytes] : forms)
        work.savedInside += bytes;
    else
      work.savedResults.push_back(llvm::find(results, value) - results.begin());
  }
}

OpWork WorkTable::compute(Operation *op, const OpUse &use) {
  OpWork work;
  Scratch scratch(op->getContext());
  Operation *copy = scratch.clone(op, use.operands, use.results);
  copy->setAttr(tp::getWaysAttrName(),
                DictionaryAttr::get(op->getContext(),
                                    NamedAttribute(getAxisName(), use.way)));
  if (isa<tp::DecomposableOpInterface>(copy))
    addParts(copy, scratch, use, work);
  else
    addSimple(copy, scratch, use, work);
  return work;
}

const OpWork &WorkTable::get(Operation *op, const OpUse &use) {
  auto key = signatureOf(op, use.operands, use.results);
  key.push_back(use.way.getAsOpaquePointer());
  auto addFlags = [&](auto &&list) {
    uintptr_t flags = 1;
    for (bool flag : list)
      flags = flags << 1 | uintptr_t(flag);
    key.push_back(reinterpret_cast<const void *>(flags));
  };
  addFlags(llvm::concat<const bool>(use.incoming, use.wanted));
  addFlags(llvm::map_range(use.parameters,
                           [](tp::ParamOp param) { return bool(param); }));
  addFlags(llvm::map_range(use.parameters, [](tp::ParamOp param) {
    return param && param.getRoundShares();
  }));
  auto it = known.find(key);
  if (it == known.end())
    it = known.emplace(std::move(key), compute(op, use)).first;
  return it->second;
}

SmallVector<NamedItem, 2> WorkTable::getUpdate(RankedTensorType type) {
  MLIRContext *context = type.getContext();
  Location loc = UnknownLoc::get(context);
  Scratch scratch(context);
  OpBuilder &b = scratch.builder;
  auto argument = [&](Type type) {
    return scratch.block.addArgument(type, loc);
  };
  // Trained in float32, however the parameter is stored.
  type = tp::inFloat32(type);
  Type scalar = RankedTensorType::get({}, type.getElementType(),
                                      tp::LayoutAttr::replicated(meshAttr, 0));
  Type squares = RankedTensorType::get({3}, type.getElementType(),
                                       tp::LayoutAttr::replicated(meshAttr, 1));
  Value gradient = argument(tp::dualType(type)), p = argument(type);
  Value m = argument(type), v = argument(type), scale = argument(scalar);
  FloatAttr zero = b.getF64FloatAttr(0);
  Operation *ops[] = {tp::SumSquaresOp::create(b, loc, squares, gradient),
                      tp::AdamWOp::create(b, loc, type, type, type, p, gradient,
                                          m, v, scale, zero, zero, zero, zero)};
  SmallVector<NamedItem, 2> items;
  for (Operation *op : ops)
    if (auto item = tp::workOf(op, mesh))
      items.push_back(named(op, *item));
  return items;
}
