// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// config.json as a builtin resource of bytes.

#include "colrow/dialects/TP/Config.h"
#include "colrow/dialects/TP/TP.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace colrow;

void tp::setConfig(ModuleOp module, StringRef text) {
  if (text.empty())
    return;
  Builder builder(module.getContext());
  auto type =
      RankedTensorType::get({int64_t(text.size())}, builder.getI8Type());
  module->setAttr(getConfigAttrName(),
                  DenseResourceElementsAttr::get(
                      type, "config",
                      HeapAsmResourceBlob::allocateAndCopyWithAlign(
                          ArrayRef<char>(text.data(), text.size()), 1)));
}

StringRef tp::getConfig(ModuleOp module) {
  Attribute attribute = module->getAttr(getConfigAttrName());
  if (auto text = dyn_cast_or_null<StringAttr>(attribute))
    return text.getValue();
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(attribute);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return {};
  ArrayRef<char> data = blob->getData();
  return StringRef(data.data(), data.size());
}
