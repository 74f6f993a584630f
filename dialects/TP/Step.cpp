// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases are blocks.

#include "colrow/dialects/TP/Step.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

LogicalResult NextOp::verify() {
  Block *next = (*this)->getBlock()->getNextNode();
  if (getNext() != next || next->getNumArguments())
    return emitOpError("C1: goes on to another block than the one that follows "
                       "(which takes no arguments); phases run in their order");
  return success();
}

bool tp::isForwardOnly(func::FuncOp function) {
  return function->hasAttr(getForwardAttrName());
}

Phase tp::getPhase(Operation *op) {
  Block *block = op->getBlock();
  auto function = op->getParentOfType<func::FuncOp>();
  if (function)
    block = function.getBody().findAncestorBlockInRegion(*block);
  unsigned index = 0;
  while ((block = block->getPrevNode()))
    ++index;
  return Phase(index);
}

LogicalResult tp::verifyPhases(func::FuncOp function) {
  unsigned blocks = llvm::range_size(function.getBody());
  if (blocks == 0)
    return function.emitError("has no body; a step is a function with one");
  if (blocks > numPhases)
    return function.emitError("has ")
           << blocks << " blocks; the phases forward, backward and update are "
           << numPhases;
  for (Block &block : function.getBody()) {
    bool last = !block.getNextNode();
    if (!block.mightHaveTerminator() ||
        (last ? !isa<func::ReturnOp>(block.getTerminator())
              : !isa<NextOp>(block.getTerminator())))
      return function.emitError("has a block that ends in neither tp.next (a "
                                "phase that another one follows) nor return "
                                "(the last one)");
  }
  return success();
}

void tp::addPhases(func::FuncOp function) {
  Region &body = function.getBody();
  Operation *ret = body.front().getTerminator();
  Location loc = ret->getLoc();
  Block *forward = &body.front();
  Block *backward = new Block, *update = new Block;
  body.push_back(backward);
  body.push_back(update);
  ret->moveBefore(update, update->end());
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToEnd(forward);
  NextOp::create(builder, loc, backward);
  builder.setInsertionPointToEnd(backward);
  NextOp::create(builder, loc, update);
}

bool tp::leavesWhole(func::FuncOp function, unsigned result) {
  auto role =
      function.getResultAttrOfType<StringAttr>(result, getRoleAttrName());
  return !role || role.getValue() == "loss";
}

void tp::forEachOp(func::FuncOp function,
                   llvm::function_ref<void(Operation &)> visit) {
  for (Block &block : function.getBody())
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      visit(op);
}
