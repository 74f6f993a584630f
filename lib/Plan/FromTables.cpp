// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From tables to plan IR: what stands in the module, in the tables' order.

#include "FromTables.h"
#include "colrow/Plan/Tables.h"
#include "colrow/dialects/TP/Config.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

namespace {

/// Reads what stands in the module; programs refer to it by name.
class ModuleReader {
public:
  ModuleReader(const plan::PlanT &plan, MLIRContext *context)
      : plan(plan), builder(context), mesh(fromMesh(plan.mesh, context)) {}

  OwningOpRef<ModuleOp> run();

private:
  void addAttributes(ModuleOp module);
  LogicalResult addParameters();
  void addConstants();
  void addKernels();
  void addObject();

  const plan::PlanT &plan;
  OpBuilder builder;
  tp::MeshAttr mesh;
};
} // namespace

void ModuleReader::addAttributes(ModuleOp module) {
  module->setAttr(tp::getMeshAttrName(), mesh);
  if (!plan.model_type.empty())
    module->setAttr(tp::getModelTypeAttrName(),
                    builder.getStringAttr(plan.model_type));
  tp::setConfig(module, plan.config_json);
  if (!plan.optimizer)
    return;
  auto number = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  };
  module->setAttr(
      tp::getOptimizerAttrName(),
      builder.getDictionaryAttr(
          {number("beta1", plan.optimizer->beta1),
           number("beta2", plan.optimizer->beta2),
           number("eps", plan.optimizer->eps),
           number("weight_decay", plan.optimizer->weight_decay),
           number("clip_grad_norm", plan.optimizer->clip_grad_norm)}));
}

LogicalResult ModuleReader::addParameters() {
  for (const auto &parameter : plan.parameters)
    if (failed(createParameter(builder, *parameter,
                               *plan.buffers[parameter->buffer],
                               parameter->state_of < 0
                                   ? StringRef()
                                   : plan.parameters[parameter->state_of]->name,
                               mesh)))
      return failure();
  return success();
}

void ModuleReader::addConstants() {
  for (const auto &buffer : plan.buffers) {
    if (buffer->region != plan::Region::constant)
      continue;
    Type element = fromDType(buffer->dtype, builder.getContext());
    ArrayRef<uint8_t> bytes =
        ArrayRef(plan.constants).slice(buffer->offset, buffer->bytes);
    auto type = RankedTensorType::get(
        int64_t(buffer->bytes / elementBytes(element)), element);
    auto raw =
        ArrayRef(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    // The bytes of i1 are a file's: not all of them are a bool.
    auto isTrue = [](uint8_t byte) { return byte != 0; };
    DenseElementsAttr value =
        element.isInteger(1)
            ? DenseElementsAttr::get(
                  type, ArrayRef<bool>(llvm::map_to_vector(bytes, isTrue)))
            : DenseElementsAttr::getFromRawBuffer(type, raw);
    ConstantOp::create(builder, builder.getUnknownLoc(), buffer->name, value,
                       buffer->offset);
  }
}

void ModuleReader::addKernels() {
  for (const auto &kernel : plan.kernels) {
    SmallVector<Attribute> args;
    for (const auto &arg : kernel->args)
      args.push_back(KernelArgAttr::get(
          builder.getContext(), fromDType(arg->dtype, builder.getContext()),
          Access(unsigned(arg->access)), arg->extent, ArrayRef<int64_t>()));
    KernelOp::create(builder, builder.getUnknownLoc(), kernel->symbol,
                     builder.getArrayAttr(args), kernel->ints, StringAttr());
  }
}

void ModuleReader::addObject() {
  if (plan.object.empty())
    return;
  auto type =
      RankedTensorType::get(int64_t(plan.object.size()), builder.getI8Type());
  auto code = DenseResourceElementsAttr::get(
      type, "object",
      HeapAsmResourceBlob::allocateAndCopyInferAlign(ArrayRef(plan.object)));
  ObjectOp::create(builder, builder.getUnknownLoc(), plan.target_cpu,
                   plan.target_features, code);
}

OwningOpRef<ModuleOp> ModuleReader::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  addAttributes(*module);
  builder.setInsertionPointToStart(module->getBody());
  if (failed(addParameters()))
    return nullptr;
  addConstants();
  addKernels();
  addObject();
  for (const auto &program : plan.programs) {
    OpBuilder::InsertionGuard guard(builder);
    readProgram(plan, *program, mesh, builder);
  }
  return module;
}

OwningOpRef<ModuleOp> planir::fromTables(const plan::PlanT &plan,
                                         MLIRContext *context) {
  context->loadDialect<tp::TPDialect, PlanDialect>();
  return ModuleReader(plan, context).run();
}
