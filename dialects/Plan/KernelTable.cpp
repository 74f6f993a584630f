// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of a module, once each.

#include "colrow/dialects/Plan/KernelTable.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

Type planir::elementType(MLIRContext *context, kernel::Elem elem) {
  Builder builder(context);
  switch (elem) {
  case kernel::Elem::F32:
    return builder.getF32Type();
  case kernel::Elem::I32:
    return builder.getI32Type();
  case kernel::Elem::I64:
    return builder.getI64Type();
  case kernel::Elem::BF16:
    return builder.getBF16Type();
  case kernel::Elem::I1:
    return builder.getI1Type();
  }
  llvm_unreachable("all elements are listed");
}

ArrayAttr planir::getKernelArgs(MLIRContext *context,
                                const kernel::RowKernel &kernel) {
  SmallVector<Attribute> args;
  for (unsigned i = 0; i < kernel.args.size(); ++i) {
    auto access = Access(unsigned(kernel.args[i].access));
    args.push_back(KernelArgAttr::get(
        context, elementType(context, kernel.args[i].elem), access,
        kernel::extentBytes(kernel, i), kernel::getInPlaceArgs(kernel, i)));
  }
  return ArrayAttr::get(context, args);
}

KernelTable::KernelTable(ModuleOp module, Block::iterator at)
    : builder(module.getBody(), at), symbols(module) {
  for (auto op : module.getOps<KernelOp>()) {
    if (!op.getText())
      continue;
    if (auto kernel = kernel::parseKernel(*op.getText()))
      known.emplace(std::move(*kernel), op);
    else
      llvm::consumeError(kernel.takeError()); // the verifier has reported it
  }
}

FlatSymbolRefAttr KernelTable::intern(const kernel::RowKernel &kernel) {
  auto [it, isNew] = known.try_emplace(kernel);
  if (!isNew)
    return FlatSymbolRefAttr::get(it->second.getSymNameAttr());
  std::string name = ("kernel" + Twine(known.size() - 1)).str();
  it->second = KernelOp::create(
      builder, builder.getUnknownLoc(), builder.getStringAttr(name),
      getKernelArgs(builder.getContext(), kernel), kernel.numInts,
      builder.getStringAttr(kernel.canonical()));
  return FlatSymbolRefAttr::get(symbols.insert(it->second));
}
